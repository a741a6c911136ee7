"""Reading many files with all cores, with what was read before taken from the cache."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from py_agent.site.cache import ReadingCache
from py_agent.site.reading import NO_WISHES, Reading, Wishes, key_of, read_bytes, suffix_of

T = TypeVar("T")
#: A second process pays from about so many files on: it starts in .4 s, in which one process reads some 150 pages.
POOL_FROM_FILES = 300
#: Files that one task brings: enough that the way there costs nothing, few enough that the bar moves.
TASK_FILES = 24
#: Tasks that wait for each process: memory stays bounded however large the site is.
TASKS_AHEAD = 3


@dataclass(frozen=True)
class Job:
    """A file to read, and the rules for it."""

    file: str
    wishes: Wishes = NO_WISHES


@dataclass
class Outcome:
    """What became of a job: a reading, or why there is none.

    Attributes:
        kept: The reading was taken from the cache: the file has not changed.
    """

    file: str
    reading: Reading | None = None
    reason: str = ""
    kept: bool = False


def read_all(
    root: Path,
    jobs: Sequence[Job],
    *,
    cache: ReadingCache,
    processes: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Reads ``jobs`` below ``root`` and gives their outcomes in no fixed order; what cannot be read is an outcome too.

    Args:
        root: The site's folder.
        jobs: What to read.
        cache: Where readings are kept.
        processes: How many to use at most.
        progress: Called once a file.
    """
    fresh: list[tuple[Job, str]] = []
    for part in _slices(jobs):
        for outcome, job, key in _kept(root, part, cache):
            if outcome is None:
                fresh.append((job, key))
            else:
                progress()
                yield outcome
    if processes < 2 or len(fresh) < POOL_FROM_FILES:
        for task in _slices(fresh):
            yield from _store([_read(root, task)], cache, progress)
        return
    pool = _Pool(root, processes)
    try:
        for task in _slices(fresh):
            yield from _store(pool.submit(task), cache, progress)
        yield from _store(pool.finish(), cache, progress)
    finally:
        pool.close()


def _slices(jobs: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(jobs), TASK_FILES):
        yield jobs[start : start + TASK_FILES]


Fresh = Sequence[tuple[Job, str]]
Row = tuple[str, str, bytes, str]


def _kept(root: Path, task: Sequence[Job], cache: ReadingCache) -> Iterator[tuple[Outcome | None, Job, str]]:
    keys: dict[str, str] = {}
    for job in task:
        try:
            keys[job.file] = key_of((root / job.file).read_bytes(), suffix_of(job.file), job.wishes)
        except OSError as error:
            yield Outcome(job.file, reason=f"cannot be read: {error.strerror or error}"), job, ""
    found = cache.get(keys.values())
    for job in task:
        key = keys.get(job.file)
        if key is None:
            continue
        try:
            yield (Outcome(job.file, Reading.unpack(found[key]), kept=True) if key in found else None), job, key
        except ValueError:
            yield None, job, key  # damaged in the cache: read again, and kept anew


def _store(results: Sequence[list[Row]], cache: ReadingCache, progress: Callable[[], None]) -> Iterator[Outcome]:
    for rows in results:
        cache.put({key: data for _, key, data, _ in rows if data})
        for file, _, data, reason in rows:
            progress()
            yield Outcome(file, Reading.unpack(data) if data else None, reason)


def _read(root: Path, fresh: Fresh) -> list[Row]:
    """Reads files in this process: ``(file, key, packed reading, reason)``."""
    rows: list[Row] = []
    for job, key in fresh:
        try:
            data = (root / job.file).read_bytes()
        except OSError as error:
            rows.append((job.file, key, b"", f"cannot be read: {error.strerror or error}"))
            continue
        try:
            rows.append((job.file, key, read_bytes(data, suffix_of(job.file), job.wishes).pack(), ""))
        except Exception as error:  # a page must never end a build; what it is, is told by name
            rows.append(
                (job.file, key, b"", f"the reader failed on it ({type(error).__name__}: {error}); please report")
            )
    return rows


def _ignore_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal; only the first one acts on it, and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Pool:
    """Processes that read; at most ``TASKS_AHEAD`` tasks each are under way."""

    def __init__(self, root: Path, processes: int) -> None:
        self._root = root
        self._processes = processes
        self._executor: ProcessPoolExecutor | None = None
        self._running: dict[Future[list[Row]], Fresh] = {}
        self._broken = False

    def submit(self, fresh: Fresh) -> list[list[Row]]:
        """Hands a task over, and gives back what has become ready meanwhile."""
        if self._broken:
            return [_read(self._root, fresh)]
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._processes, multiprocessing.get_context("spawn"), initializer=_ignore_interrupt
            )
        try:
            self._running[self._executor.submit(_read, self._root, fresh)] = fresh
        except BrokenProcessPool:
            self._broken = True
            return [_read(self._root, fresh)]
        return self._collect() if len(self._running) >= self._processes * TASKS_AHEAD else []

    def finish(self) -> list[list[Row]]:
        """Waits for what is still under way."""
        results = []
        while self._running:
            results += self._collect()
        return results

    def _collect(self) -> list[list[Row]]:
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        results = []
        for future in done:
            fresh = self._running.pop(future)
            try:
                results.append(future.result())
            except BrokenProcessPool:
                # The processes could not start or were killed: what they had is read here, one by one.
                self._broken = True
                results.append(_read(self._root, fresh))
        return results

    def close(self) -> None:
        """Ends the processes, whatever they are at."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
