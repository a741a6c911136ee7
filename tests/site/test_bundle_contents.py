"""What the bundle holds, and that its report tells the truth."""

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import brotli
import pytest

from py_agent.site.bundle import dist, licenses, scripts
from py_agent.site.bundle.archive import ZIP_DATE, compiled_zip
from py_agent.site.bundle.cache import Cache
from py_agent.site.bundle.report import check_budgets
from py_agent.site.bundle.run import BundleError
from py_agent.site.bundle.wheels import own_wheel

ROOT = Path(__file__).parents[2]
BOOT = Path(__file__).parent / "boot_bundle.mjs"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The bundle of this tree, from the build's cache where it is warm."""
    out = tmp_path_factory.mktemp("dist")
    report = dist.build(ROOT, out)
    return out / "agent", report


def archives(agent):
    return sorted(agent.rglob("*.zip.wasm"))


def test_our_wheel_holds_the_harness_and_no_build_time_code(built):
    _, report = built
    names = report["wheel"]
    assert "py_agent/agent/docs_agent.py" in names
    assert "py_agent/browser/host.py" in names
    assert any(name.startswith("py_agent/prompt/templates/") and name.endswith(".j2") for name in names)
    for banned in ("py_agent/site/", "py_agent/evals/", "py_agent/testing/", "py_agent/cli/"):
        assert not [name for name in names if name.startswith(banned)], banned
    assert not [name for name in names if name.endswith((".js", ".mjs", ".pyc"))]


def test_archives_are_stored_zips_of_compiled_code_without_dates(built):
    agent, _ = built
    assert len(archives(agent)) == 13  # the library and twelve wheels
    for path in archives(agent):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                assert info.compress_type == zipfile.ZIP_STORED, (path.name, info.filename)
                assert info.date_time == ZIP_DATE, (path.name, info.filename)
                assert not info.filename.endswith(".py"), (path.name, info.filename)
            assert any(name.endswith(".pyc") for name in archive.namelist())


def test_the_loader_names_files_that_exist_with_their_hashes(built):
    agent, report = built
    assets = report["assets"]
    loader = (agent / "py-agent.js").read_text()
    for archive in assets["archives"]:
        data = (agent / archive["url"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (archive["bytes"], archive["sha256"])
        assert archive["url"] in loader
        assert archive["sha256"] in loader
    for name in ("widget", "session", "host", "engine", "storage", "sqliteWasm"):
        assert (agent / assets[name]).is_file()
        assert assets[name] in loader
    for name in ("module", "stdlib", "lock"):
        assert (agent / assets["pyodide"][name]).is_file()
    assert assets["litertWasm"].endswith("/")
    assert len(list((agent / assets["litertWasm"]).iterdir())) == 8


def test_every_file_but_loader_and_licences_is_named_by_its_content(built):
    agent, _ = built
    for path in (agent / "assets").iterdir():
        match = re.search(r"-([0-9a-f]{10})(\.|$)", path.name)
        assert match, path.name
        if path.is_file():
            assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(match[1]), path.name


def test_the_lock_file_fits_the_files_beside_it(built):
    agent, report = built
    lock_path = agent / report["assets"]["pyodide"]["lock"]
    lock = json.loads(lock_path.read_text())
    stock = json.loads((ROOT / "node_modules" / "pyodide" / "pyodide-lock.json").read_text())
    assert lock["info"] == stock["info"]
    assert sorted(lock["packages"]) == sorted(entry["name"] for entry in report["assets"]["archives"])
    for name, entry in lock["packages"].items():
        file = lock_path.parent / entry["file_name"]
        assert hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"]
        with zipfile.ZipFile(file) as archive:
            tops = {path.split("/")[0].removesuffix(".pyc") for path in archive.namelist()}
        assert set(entry["imports"]) <= tops, name
        assert entry["imports"], name
        assert set(entry["depends"]) <= set(lock["packages"]), name


def test_dependencies_come_before_what_needs_them(built):
    agent, report = built
    lock = json.loads((agent / report["assets"]["pyodide"]["lock"]).read_text())
    order = [entry["name"] for entry in report["assets"]["archives"]]
    for name, entry in lock["packages"].items():
        assert all(order.index(other) < order.index(name) for other in entry["depends"]), name


def test_the_report_lists_every_file_and_adds_up(built):
    agent, report = built
    on_disk = {path.relative_to(agent).as_posix(): path for path in agent.rglob("*") if path.is_file()}
    sizes = {entry["path"]: entry for entry in report["files"]}
    assert sizes.keys() == on_disk.keys()
    assert all(sizes[name]["raw"] == path.stat().st_size for name, path in on_disk.items())
    assert sizes["py-agent.js"]["br"] == len(brotli.compress(on_disk["py-agent.js"].read_bytes(), quality=11))
    totals = report["totals"]
    assert totals["launcher_br"] == sizes["py-agent.js"]["br"]
    assert totals["first_open_br"] == sum(sizes[name]["br"] for name in report["first_open"])
    compressed = (".js", ".css", ".html", ".json", ".wasm")
    assert totals["first_open_plain_host"] == sum(
        sizes[name]["gz" if name.endswith(compressed) else "raw"] for name in report["first_open"]
    )
    assert not [name for name in report["first_open"] if "litert" in name or "engine" in name or "host" in name]


@pytest.mark.parametrize("limit", ["launcher", "first_open", "plain_host"])
def test_a_budget_that_is_exceeded_fails_the_build_and_says_by_how_much(built, limit):
    _, report = built
    name = {"launcher": "launcher_br", "first_open": "first_open_br", "plain_host": "first_open_plain_host"}[limit]
    check_budgets(report["totals"])
    with pytest.raises(BundleError, match=rf"{name} is .* 1 over its budget"):
        check_budgets(report["totals"], **{limit: report["totals"][name] - 1})


def test_a_heavy_launcher_fails_the_whole_build(tmp_path, monkeypatch):
    monkeypatch.setattr(dist.sizes, "LAUNCHER_BUDGET", 100)
    monkeypatch.setattr(
        dist.sizes.check_budgets, "__kwdefaults__", {"launcher": 100, "first_open": 10**9, "plain_host": 10**9}
    )
    with pytest.raises(BundleError, match="launcher_br"):
        dist.build(ROOT, tmp_path)
    assert (tmp_path / "report.json").is_file()  # it says which file is heavy


def test_a_missing_entry_point_fails_the_build(tmp_path, monkeypatch):
    monkeypatch.setitem(scripts.ENTRIES, "storage", ("worker/no_such_file.js", "esm"))
    with pytest.raises(BundleError, match=r"no_such_file\.js is missing"):
        dist.build(ROOT, tmp_path)


def test_the_same_sources_give_the_same_bytes(tmp_path):
    results = []
    for name in ("one", "two"):
        cache = Cache(tmp_path / name)
        wheel = own_wheel(cache, ROOT)
        packed = compiled_zip(cache, ROOT / "node_modules", wheel, (), name="py-agent", optimize=0)
        results.append((wheel.read_bytes(), packed.read_bytes()))
    assert results[0] == results[1]


def test_code_that_does_not_compile_is_named(tmp_path):
    source = tmp_path / "broken-1-py3-none-any.whl"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("broken/__init__.py", "def f(:\n")
    with pytest.raises(BundleError, match=r"broken/__init__\.py"):
        compiled_zip(Cache(tmp_path / "cache"), ROOT / "node_modules", source, (), name="broken", optimize=0)
    assert not list((tmp_path / "cache").glob("pyc-*"))  # nothing that looks finished


def test_the_whole_harness_imports_from_the_trimmed_bundle(built):
    agent, report = built
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in report["wheel"]
        if name.endswith(".py")
    ]
    node = shutil.which("node")
    assert node
    done = subprocess.run(
        [
            node,
            BOOT,
            ROOT / "node_modules" / "pyodide" / "pyodide.mjs",
            agent,
            json.dumps(report["assets"]),
            json.dumps(modules),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [line for line in (done.stdout + done.stderr).splitlines() if len(line) < 2000]
    assert done.returncode == 0, "\n".join(lines[-30:])
    assert json.loads(lines[-1]) == {"failed": [], "answer": "3 100 hello"}


def test_the_notices_name_every_part_of_the_built_bundle(built):
    agent, report = built
    folder = agent / "licenses"
    notices = (folder / licenses.INDEX).read_text()
    archives = {entry["name"] for entry in report["assets"]["archives"]} - {"py-agent"}
    assert len(archives) >= 8
    for name in (*archives, *licenses.BUNDLED_NPM, "CPython"):
        assert f"\n{name} " in notices
    for name in archives:
        assert (folder / f"{name}.txt").stat().st_size > 500
    assert "Mozilla Public License" in (folder / "MPL-2.0.txt").read_text()
