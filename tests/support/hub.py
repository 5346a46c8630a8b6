"""A stand-in for the Hugging Face hub: it serves what its API says of a repository, and the files, on loopback."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

MAIN = "a" * 40
OLD = "b" * 40


@dataclass
class Hub:
    """Has one repository, with the files of each commit, which branches and tags name."""

    id: str
    commits: dict[str, dict[str, bytes]]
    revisions: dict[str, str] = field(default_factory=lambda: {"main": MAIN})
    token: str | None = None
    """Who may read the files of a gated repository."""
    breaks_after: int | None = None
    """So many bytes of a file are sent, once; then the connection breaks."""
    holds: bool = False
    """Instead of breaking, the connection stays open, without another byte."""
    silent: str = ""
    """Requests for paths with this part aren't answered."""
    dies: bool = False
    """With the connection, the hub breaks for good."""
    broken: bool = False
    url: str = ""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Method, path and range of each request."""

    def env(self, home: object, **more: str) -> dict[str, str]:
        """The variables with which the library asks here, and keeps all in a folder of its own."""
        own = {"HF_ENDPOINT": self.url, "HF_HOME": str(home), "HF_HUB_CACHE": f"{home}/hub", "NO_PROXY": "*"}
        return own | {"HF_TOKEN": "", "HF_HUB_OFFLINE": "", "HF_HUB_DISABLE_TELEMETRY": "1"} | more

    def downloads(self) -> list[str]:
        """The files that were asked for, in their order."""
        return [path.rpartition("/")[2] for method, path, _ in self.asked if method == "GET" and "/resolve/" in path]

    def commit(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.revisions.get(revision)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path, self.headers.get("Range")))
        if self.hub.silent and self.hub.silent in path:
            self._wait_for_the_end()
            return
        if self.hub.broken:
            self.close_connection = True
            return
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        request = api or file
        if not request or request[1] != self.hub.id:
            self._refuse(401, "RepoNotFound" if file else None)
        elif api:
            self._info(api[2], api[3] or "main")
        elif file:
            self._file(file[2], file[3])

    def _info(self, kind: str | None, revision: str) -> None:
        commit = self.hub.commit(revision)
        if commit is None:
            self._refuse(404, "RevisionNotFound")
            return
        files = self.hub.commits[commit]
        if kind == "tree":
            entries = [
                {"type": "file", "path": name, "size": len(files[name]), "oid": _etag(files[name])} for name in files
            ]
            self._json(entries)
        else:
            self._json({"id": self.hub.id, "sha": commit, "siblings": [{"rfilename": name} for name in files]})

    def _file(self, revision: str, name: str) -> None:
        commit = self.hub.commit(revision)
        given = self.headers.get("Authorization")
        if self.hub.token is not None and given != f"Bearer {self.hub.token}":
            self._refuse(403 if given else 401, "GatedRepo")
            return
        content = self.hub.commits[commit].get(name) if commit else None
        if content is None:
            self._refuse(404, "EntryNotFound")
            return
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("X-Repo-Commit", commit or "")
        self.send_header("ETag", f'"{_etag(content)}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.command == "HEAD":
            return
        rest = content[start:]
        if self.hub.breaks_after is not None and len(rest) > self.hub.breaks_after:
            sent, self.hub.breaks_after = self.hub.breaks_after, None
            self.wfile.write(rest[:sent])
            self.wfile.flush()
            if self.hub.holds:
                self._wait_for_the_end()
            self.hub.broken = self.hub.dies
            self.close_connection = True
            return
        self.wfile.write(rest)

    def _wait_for_the_end(self) -> None:
        with suppress(OSError):
            self.rfile.read(1)  # until the client has closed the connection
        self.close_connection = True

    def _json(self, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def _refuse(self, status: int, code: str | None) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _etag(content: bytes) -> str:
    """Large files have their SHA-256, as they do on the hub; there, small ones have Git's hash."""
    if len(content) > 10**6:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
