"""Looks at, and damages, what lies on the browser's private file system."""

from __future__ import annotations

import base64
from typing import Any

from playwright.sync_api import Page

_WALK = """
const walk = async (folder, path, work) => {
  for await (const [name, handle] of folder.entries()) {
    if (handle.kind === "directory") await walk(handle, `${path}${name}/`, work);
    else await work(handle, path + name);
  }
};
const folderAt = async (path) => {
  let folder = await navigator.storage.getDirectory();
  for (const name of path.split("/").filter(Boolean)) folder = await folder.getDirectoryHandle(name);
  return folder;
};
"""

#: What the pool of file handles keeps in front of each file.
HEADER = 4096


def files(page: Page, directory: str = "") -> dict[str, bytes]:
    """All files under ``directory`` with their bytes; also those that a worker holds."""
    found: list[list[str]] = page.evaluate(
        f"""async (directory) => {{
          {_WALK}
          const found = [];
          await walk(await folderAt(directory), "", async (handle, path) => {{
            const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
            let text = "";
            for (let at = 0; at < bytes.length; at += 8192) {{
              text += String.fromCharCode(...bytes.subarray(at, at + 8192));
            }}
            found.push([path, btoa(text)]);
          }});
          return found;
        }}""",
        directory,
    )
    return {path: base64.b64decode(data) for path, data in found}


def site_folder(page: Page) -> str:
    """Name of the one folder that a site has made."""
    names: list[str] = page.evaluate("async () => Array.fromAsync((await navigator.storage.getDirectory()).keys())")
    (name,) = (name for name in names if name.startswith("py-agent-"))
    return name


def pool_path(page: Page, directory: str, name: str = "/agent.db") -> str | None:
    """Where the pool keeps the file that SQLite calls ``name``; None if it has none."""
    for path, data in files(page, f"{directory}/sqlite").items():
        if data[:512].split(b"\0")[0] == name.encode():
            return f"{directory}/sqlite/{path}"
    return None


def database(page: Page, directory: str) -> bytes:
    """The bytes of the database, without what the pool keeps in front."""
    path = pool_path(page, directory)
    assert path is not None
    return files(page, directory)[path.removeprefix(f"{directory}/")][HEADER:]


def overwrite(page: Page, path: str, data: bytes, at: int = HEADER) -> None:
    """Replaces everything from ``at`` on; no worker may hold the file."""
    arguments: list[Any] = [path, base64.b64encode(data).decode(), at]
    page.evaluate(
        f"""async ([path, data, at]) => {{
          {_WALK}
          const cut = path.lastIndexOf("/");
          const handle = await (await folderAt(path.slice(0, cut))).getFileHandle(path.slice(cut + 1));
          const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
          for (let tries = 0; ; tries += 1) {{
            try {{
              const writable = await handle.createWritable({{keepExistingData: true}});
              await writable.truncate(at);
              await writable.write({{type: "write", position: at, data: bytes}});
              await writable.close();
              return;
            }} catch (thrown) {{
              if (tries > 50) throw thrown; // the handles of a worker that was just ended go a moment later
              await new Promise((resolve) => setTimeout(resolve, 100));
            }}
          }}
        }}""",
        arguments,
    )
