"""Wheels that are not fit for the page fail the build; Pyodide's own tools look into the compiled ones."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from py_agent.site.bundle import checks
from py_agent.site.bundle.cache import Cache
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.run import BundleError
from py_agent.site.bundle.wheels import locked_wheels, read_wheel

ROOT = Path(__file__).parents[2]
PAGE_TAG = "cp314-cp314-pyemscripten_2026_0_wasm32"
ELF = b"\x7fELF" + bytes(60)


def record_hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def make_wheel(folder, name="demo", tag="py3-none-any", files=None, requires=()):
    path = folder / f"{name}-1.0-{tag}.whl"
    info = f"{name}-1.0.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {item}" for item in requires)]
    contents = {
        **{file: bytes(data) for file, data in (files or {f"{name}/__init__.py": b""}).items()},
        f"{info}/METADATA": ("\n".join(lines) + "\n").encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    record = "".join(f"{file},sha256={record_hash(data)},{len(data)}\n" for file, data in contents.items())
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in contents.items():
            archive.writestr(file, data)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return path


def shared_library(*needed):
    """A WebAssembly shared library that does nothing but need others: the header and a dylink.0 section."""

    def text(value):
        return bytes([len(value)]) + value.encode()

    memory = bytes([1, 4, 0, 0, 0, 0])  # WASM_DYLINK_MEM_INFO: sizes and alignments of nothing
    names = bytes([len(needed)]) + b"".join(map(text, needed))
    section = text("dylink.0") + memory + bytes([2, len(names)]) + names  # WASM_DYLINK_NEEDED
    return b"\0asm\1\0\0\0" + bytes([0, len(section)]) + section


@pytest.fixture
def cache():
    """The build's own cache: the environment of the checks is in it already."""
    return Cache(Layout.of(ROOT).cache)


@pytest.mark.parametrize(
    "tag",
    [
        "cp314-cp314-manylinux_2_28_x86_64",  # another system
        "cp314-cp314-pyemscripten_2025_0_wasm32",  # another ABI of Pyodide
        "cp313-cp313-pyemscripten_2026_0_wasm32",  # another Python
        "cp314-cp314-emscripten_5_0_3_wasm32",  # the old way to name the platform
        "py2-none-any",
    ],
)
def test_a_wheel_for_another_platform_fails_the_build(tmp_path, cache, tag):
    wheel = read_wheel(make_wheel(tmp_path, tag=tag))
    with pytest.raises(BundleError, match="is not for the page"):
        checks.check(cache, ROOT, [wheel])


def test_compiled_code_for_another_system_fails_the_build(tmp_path, cache):
    wheel = read_wheel(make_wheel(tmp_path, tag=PAGE_TAG, files={"demo/_fast.so": ELF}))
    with pytest.raises(BundleError, match=r"demo/_fast\.so, compiled code that is no WebAssembly"):
        checks.check(cache, ROOT, [wheel])


def test_compiled_code_in_a_wheel_that_says_it_is_pure_fails_the_build(tmp_path, cache):
    wheel = read_wheel(make_wheel(tmp_path, files={"demo/_fast.so": shared_library()}))
    with pytest.raises(BundleError, match=r"says it is pure Python and holds demo/_fast\.so"):
        checks.check(cache, ROOT, [wheel])


def test_a_library_that_needs_another_library_fails_the_build(tmp_path, cache):
    wheel = read_wheel(make_wheel(tmp_path, tag=PAGE_TAG, files={"demo/_fast.so": shared_library("libgmp.so")}))
    with pytest.raises(BundleError, match=r"demo/_fast\.so needs the shared library libgmp\.so"):
        checks.check(cache, ROOT, [wheel])


def test_a_missing_dependency_fails_the_build(tmp_path, cache):
    wheel = read_wheel(make_wheel(tmp_path, requires=["absent>=2"]))
    with pytest.raises(BundleError, match="needs absent, which is no wheel of the page"):
        checks.check(cache, ROOT, [wheel])


def test_a_dependency_of_another_platform_or_of_an_extra_is_not_needed(tmp_path):
    path = make_wheel(
        tmp_path, requires=['colorama; sys_platform == "win32"', 'rich; extra == "cli"', "Typing_Extensions"]
    )
    assert read_wheel(path).depends == ("typing-extensions",)


def test_two_wheels_of_one_package_fail_the_build(tmp_path, cache):
    other = tmp_path / "other"
    other.mkdir()
    wheels = [read_wheel(make_wheel(tmp_path)), read_wheel(make_wheel(other))]
    with pytest.raises(BundleError, match="two wheels of demo"):
        checks.check(cache, ROOT, wheels)


def test_a_file_that_is_no_wheel_fails_the_build(tmp_path):
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    path.write_text("<html>not found</html>")
    with pytest.raises(BundleError, match="cannot be read as a wheel"):
        read_wheel(path)


def test_the_locked_wheels_pass_and_the_audit_says_what_ran(cache):
    wheels = [read_wheel(path) for path in locked_wheels(cache, ROOT)]
    compiled = [wheel.name for wheel in wheels if checks.natives(wheel.path)]
    assert compiled == ["pydantic-core"]
    result = checks.check(cache, ROOT, wheels)
    expected = "auditwheel show" if sys.version_info >= (3, 12) else "auditwheel_emscripten.show"
    assert expected in result["ran"]
    assert all(len(entry) == 2 and entry[1] for entry in result["skipped"])
