"""Where the bundle's parts lie, which are loaded on first open, and what they may weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: Brotli bytes of the one file that every page of a site loads, asked or not. 15 KiB: less than one small picture.
LAUNCHER_BUDGET = 15_360
#: Brotli bytes that a reader's first question costs (8 MiB): about 4 s on a 16 Mbit/s line.
FIRST_OPEN_BUDGET = 8_388_608
#: The same on a host that only gzips the usual text types (see PLAIN_HOST_TYPES).
PLAIN_HOST_BUDGET = 10_000_000
#: What simple static hosts compress. Everything else arrives raw, which is why archives end in ``.zip.wasm``.
PLAIN_HOST_TYPES = frozenset({".js", ".css", ".html", ".json", ".wasm"})

#: Hex digits of a content hash in a file name: 40 bits, no accident among some dozens of files.
HASH_DIGITS = 10

#: Extension of stored archives: a `.zip` is served raw by most hosts, a `.wasm` compressed. Nothing compiles them.
ARCHIVE_SUFFIX = ".zip.wasm"


@dataclass(frozen=True)
class Layout:
    """The folders of one build.

    Args:
        root: The project's folder (holds ``package.json``).
        out: Where the bundle goes; ``dist`` under `root` unless said.
    """

    root: Path
    out: Path

    @classmethod
    def of(cls, root: Path, out: Path | None = None) -> Layout:
        """The layout of the project in `root`."""
        return cls(root=root, out=out if out is not None else root / "dist")

    @property
    def agent(self) -> Path:
        """The one folder that a site hosts."""
        return self.out / "agent"

    @property
    def assets(self) -> Path:
        """Content-hashed files: a host may cache them for ever."""
        return self.agent / "assets"

    @property
    def modules(self) -> Path:
        """Installed JavaScript packages."""
        return self.root / "node_modules"

    @property
    def cache(self) -> Path:
        """Results of finished steps by content hash; deleting it only costs time."""
        return self.root / "build" / "cache"

    @property
    def report(self) -> Path:
        """What the build weighs."""
        return self.out / "report.json"
