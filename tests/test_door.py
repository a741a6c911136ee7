"""What is missing or wrong on a machine gets one clear line with the cure, and no traceback."""

import argparse
import ast
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from py_agent.model.errors import AgentError
from py_agent.site.door import check, demo, main, setup

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bare_path(tmp_path, monkeypatch):
    """A PATH with nothing on it; the folder, to put fakes into."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def fake(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder whose installers are recorded instead of run; `making` may be told to fail."""
    root = tmp_path / "project"
    root.mkdir()
    (root / setup.LOCK).write_text("one==1\n")
    calls = []

    def install(command, what, **_):
        calls.append(what)
        if what == "Making .venv":
            python = setup.venv_python(root)
            python.parent.mkdir(parents=True)
            python.write_text("")
        if what in failing:
            raise setup.DoorError(f"{what} failed", hint="try again")

    failing = set()
    monkeypatch.setattr(setup, "install", install)
    return root, calls, failing


def test_no_node_is_one_line_with_the_cure(bare_path, monkeypatch, capsys):
    monkeypatch.delenv(main.INSIDE, raising=False)
    monkeypatch.setattr(setup, "ensure_venv", lambda root: Path(sys.executable))
    assert main.main(["dist"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "node is missing" in said
    assert "apt-get install nodejs npm" in said


def test_no_npm_is_told_too(bare_path):
    fake(bare_path, "node", "echo v20.1.0")
    with pytest.raises(AgentError, match="npm is missing"):
        setup.ensure_node()


@pytest.mark.parametrize("version", ["v18.19.0", "v9.0.0", ""])
def test_an_old_node_is_named_with_its_version(bare_path, version):
    fake(bare_path, "node", f"echo {version}")
    fake(bare_path, "npm", "exit 0")
    with pytest.raises(AgentError, match=version or "nothing"):
        setup.ensure_node()


def test_a_new_node_passes(bare_path):
    fake(bare_path, "node", "echo v24.0.0")
    fake(bare_path, "npm", "exit 0")
    setup.ensure_node()


def test_an_old_python_is_told_without_a_traceback():
    source = (ROOT / "build.py").read_text()
    script = f"import sys; sys.version_info = (3, 8, 10); exec(compile({source!r}, 'build.py', 'exec'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Python 3.11 or newer is needed, this is 3.8" in done.stderr


def test_an_old_python_gets_one_sentence():
    """With this Python under a false version, and with every old one that happens to be here."""
    source = (ROOT / "build.py").read_text()
    ast.parse(source, feature_version=(3, 4))
    pretend = f"import sys; sys.version_info = (3, 9, 1); exec(compile({source!r}, 'build.py', 'exec'))"
    old = [found for name in ("python2.7", "python3.6", "python3.8", "python3.9") if (found := shutil.which(name))]
    for command in ([sys.executable, "-c", pretend], *([python, ROOT / "build.py", "dist"] for python in old)):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "is needed" not in done.stderr and done.returncode == 127:
            continue  # a launcher of a version manager without that version behind it
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "Python 3.11 or newer is needed" in done.stderr


def test_a_finished_environment_is_used_as_it_is(project):
    root, calls, _ = project
    setup.ensure_venv(root)
    calls.clear()
    assert setup.ensure_venv(root) == setup.venv_python(root)
    assert calls == []


def test_a_half_made_environment_is_made_anew(project, capsys):
    root, calls, failing = project
    failing.add("Installing requirements.lock")
    with pytest.raises(AgentError):
        setup.ensure_venv(root)
    failing.clear()
    calls.clear()
    setup.ensure_venv(root)
    assert calls == ["Making .venv", "Installing requirements.lock", "Installing py-agent itself"]
    assert "half-made" in capsys.readouterr().err


def test_an_environment_of_an_older_lock_file_is_made_anew(project, capsys):
    root, calls, _ = project
    setup.ensure_venv(root)
    calls.clear()
    (root / setup.LOCK).write_text("one==2\n")
    setup.ensure_venv(root)
    assert "Making .venv" in calls
    assert "lock file or Python changed" in capsys.readouterr().err


def test_an_environment_without_its_interpreter_is_made_anew(project):
    root, calls, _ = project
    setup.ensure_venv(root)
    setup.venv_python(root).unlink()
    calls.clear()
    setup.ensure_venv(root)
    assert "Making .venv" in calls


def test_somebody_elses_environment_is_never_deleted(project):
    root, calls, _ = project
    (root / ".venv").mkdir()
    (root / ".venv" / "theirs").write_text("keep me")
    with pytest.raises(AgentError, match=r"not made by build\.py.*rm -r"):
        setup.ensure_venv(root)
    assert (root / ".venv" / "theirs").read_text() == "keep me"
    assert calls == []


def test_node_modules_are_installed_only_when_they_differ_from_the_lock_file(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(setup, "install", lambda command, what, **_: calls.append(what))
    wanted = {
        "packages": {"": {}, "node_modules/a": {"version": "1"}, "node_modules/b": {"version": "1", "optional": True}}
    }
    (tmp_path / "package-lock.json").write_text(json.dumps(wanted))
    setup.ensure_modules(tmp_path)
    assert calls == ["npm ci"]
    record = tmp_path / "node_modules" / ".package-lock.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"packages": {"node_modules/a": {"version": "1"}}}))
    setup.ensure_modules(tmp_path)
    assert calls == ["npm ci"]
    record.write_text(json.dumps({"packages": {"node_modules/a": {"version": "2"}}}))
    setup.ensure_modules(tmp_path)
    assert calls == ["npm ci", "npm ci"]


def test_no_network_is_named_as_such():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))  # bound, not listening: every connection is refused
        index = f"http://127.0.0.1:{holder.getsockname()[1]}/simple"
        command = [
            sys.executable,
            "-m",
            "pip",
            "--isolated",
            "download",
            "--no-deps",
            "--retries",
            "1",
            "-i",
            index,
            "nothing-there",
        ]
        with pytest.raises(AgentError) as caught:
            setup.install(command, "Installing requirements.lock", hint="-", env={"PIP_CONFIG_FILE": os.devnull})
    assert caught.value.code == "no_network"
    assert "\n" not in str(caught.value)


def test_a_failing_installer_shows_its_last_lines_and_the_cure(capsys):
    with pytest.raises(AgentError, match=r"Step failed \(exit code 3\)\. do this"):
        setup.install([sys.executable, "-c", "print('the reason'); raise SystemExit(3)"], "Step", hint="do this")
    assert "the reason" in capsys.readouterr().err


def test_no_chromium_and_no_right_to_install_it_says_what_to_install(bare_path, monkeypatch):
    monkeypatch.delenv("PY_AGENT_CHROMIUM", raising=False)
    with pytest.raises(AgentError, match="apt-get install chromium"):
        setup.ensure_chromium()


def test_a_port_in_use_is_told_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(demo.commands, "build_dist", lambda root: pytest.fail("built before the port was looked at"))
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        args = argparse.Namespace(ask=None, check=False, json=None, site=None, port=port)
        with pytest.raises(AgentError, match=rf"Port {port} is in use.*--port"):
            demo.run(ROOT, args)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ask": ["Why?"]}, "--check"),
        ({"json": Path("x.json")}, "--check"),
        ({"check": True, "site": Path("/no/such/folder")}, "is no folder"),
    ],
)
def test_arguments_of_the_demo_that_cannot_work_are_refused(given, says):
    args = argparse.Namespace(**{"ask": None, "check": False, "json": None, "site": None, "port": None, **given})
    with pytest.raises(AgentError, match=says):
        demo.run(ROOT, args)


def test_a_site_that_carries_the_chatbot_gets_no_second_tag(tmp_path):
    (tmp_path / "index.html").write_text("<p>hello</p>")
    assert not demo.has_tag(tmp_path)
    (tmp_path / "index.html").write_text('<script src="/agent/py-agent.js"></script>')
    assert demo.has_tag(tmp_path)


def test_a_name_chooses_a_room_a_file_or_an_expression(tmp_path):
    (tmp_path / "tests" / "search").mkdir(parents=True)
    (tmp_path / "tests" / "test_door.py").touch()
    assert check.selection(tmp_path, "search", full=True) == [str(tmp_path / "tests" / "search")]
    assert check.selection(tmp_path, "door", full=True) == [str(tmp_path / "tests" / "test_door.py")]
    assert check.selection(tmp_path, "stop and not main", full=True) == ["-k", "stop and not main"]
    assert check.selection(tmp_path, None, full=False) == ["-m", "not full"]


def test_the_summary_counts_and_names_what_failed(tmp_path):
    junit = tmp_path / "junit.xml"
    junit.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.a" name="one" time="0.5"/>'
        '<testcase classname="tests.a" name="two" time="2.5"><failure message="no"/></testcase>'
        '<testcase classname="tests.a" name="three" time="0"><skipped message="no"/></testcase>'
        "</testsuite></testsuites>"
    )
    found = check.summary([{"name": "pytest", "ok": False, "seconds": 3.0}], junit)
    assert found["tests"] == {"passed": 1, "failed": 1, "errors": 0, "skipped": 1}
    assert found["failed"] == ["tests.a::two"]
    assert found["slowest"][0] == {"test": "tests.a::two", "seconds": 2.5}
    assert found["ok"] is False
