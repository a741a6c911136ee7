"""The static server: what it serves, what it adds, what it remembers."""

from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from py_agent.model.errors import AgentError
from py_agent.site.serve import Canned, SiteServer, inject_html


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site" / "guide").mkdir(parents=True)
    (tmp_path / "site" / "index.html").write_text("<body><p>home</p></body>")
    (tmp_path / "site" / "guide" / "index.html").write_text("<p>no body tag")
    (tmp_path / "agent" / "assets").mkdir(parents=True)
    (tmp_path / "agent" / "assets" / "x.zip.wasm").write_bytes(b"PK")
    (tmp_path / "secret.txt").write_text("outside")
    return tmp_path


def get(url: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_a_mount_answers_with_the_right_type_and_may_be_cached(site: Path) -> None:
    with SiteServer(site / "site", mounts={"/agent": site / "agent"}) as server:
        status, headers, body = get(server.url + "/agent/assets/x.zip.wasm")
        assert (status, headers["Content-Type"], body) == (200, "application/wasm", b"PK")
        assert "immutable" in headers["Cache-Control"]
        assert get(server.url + "/")[1]["Cache-Control"] == "no-cache"


def test_the_script_tag_is_put_into_pages_but_not_into_files(site: Path) -> None:
    before = (site / "site" / "index.html").read_bytes()
    with SiteServer(site / "site", mounts={"/agent": site / "agent"}, inject="<script></script>") as server:
        assert get(server.url + "/")[2] == b"<body><p>home</p><script></script></body>"
        assert get(server.url + "/guide/")[2] == b"<p>no body tag<script></script>"
        assert get(server.url + "/agent/assets/x.zip.wasm")[2] == b"PK"
    assert (site / "site" / "index.html").read_bytes() == before


def test_canned_answers_headers_and_the_record(site: Path) -> None:
    canned = {"/gone.js": Canned(503, b"later", "text/plain")}
    with SiteServer(site / "site", headers={"X-Test": "1"}, canned=canned) as server:
        status, headers, body = get(server.url + "/gone.js?x=1")
        assert (status, headers["X-Test"], body) == (503, "1", b"later")
        assert get(server.url + "/nothing")[0] == 404
        assert [(r.path, r.status) for r in server.requests] == [("/gone.js", 503), ("/nothing", 404)]


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/agent/..%2f..%2fsecret.txt"])
def test_no_path_leaves_the_served_folders(site: Path, path: str) -> None:
    with SiteServer(site / "site", mounts={"/agent": site / "agent"}) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        connection.request("GET", path)
        answer = connection.getresponse()
        assert b"outside" not in answer.read()
        assert answer.status == 404


def test_a_port_in_use_and_a_missing_folder_are_named(site: Path) -> None:
    with SiteServer(site / "site") as server:
        port = int(server.url.rsplit(":", 1)[1])
        with pytest.raises(AgentError, match=f"Port {port}") as caught:
            SiteServer(site / "site", port=port)
        assert "--port" in caught.value.hint
    with pytest.raises(AgentError, match="no folder"):
        SiteServer(site / "nowhere")


def test_the_tag_goes_before_the_last_body_end() -> None:
    assert inject_html(b"<pre>&lt;/body></pre></BODY>", "X") == b"<pre>&lt;/body></pre>X</BODY>"


def test_a_kept_connection_does_not_hold_back_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shard.bin").write_bytes(b"x" * 9_000)
    taken: list[socket.socket] = []
    with SiteServer(tmp_path) as server:
        take = server._server.process_request

        def watched(request: socket.socket, address: object) -> None:
            taken.append(request)
            take(request, address)

        monkeypatch.setattr(server._server, "process_request", watched)
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        for _ in range(2):
            connection.request("GET", "/shard.bin")
            assert len(connection.getresponse().read()) == 9_000
        assert [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in taken] == [1]
        connection.close()
