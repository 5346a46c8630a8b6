"""Does a download of huggingface_hub that was killed start again from the first byte?"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from verdict import report

COMMIT, FILE = "a" * 40, "weights.bin"
CONTENT = bytes(30_000_000)
SENT = 25_000_000  # bytes before the first download is killed
CODE = f"import huggingface_hub; huggingface_hub.snapshot_download('org/model', allow_patterns=['{FILE}'])"


class Hub(BaseHTTPRequestHandler):
    """Serves one file, and stops in the middle of the first answer."""

    ranges: ClassVar[list[str | None]] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if "/resolve/" not in self.path:
            size = {"type": "file", "path": FILE, "size": len(CONTENT), "oid": "b" * 40}
            listing = (
                [size]
                if "/tree/" in self.path
                else {"id": "org/model", "sha": COMMIT, "siblings": [{"rfilename": FILE}]}
            )
            self.answer(json.dumps(listing).encode(), {"Content-Type": "application/json"})
            return
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
        etag = f'"{hashlib.sha256(CONTENT).hexdigest()}"'
        extra = {"Content-Range": f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"} if asked else {}
        first = self.command == "GET" and not self.ranges
        if self.command == "GET":
            self.ranges.append(asked)
        most = SENT if first else len(CONTENT)
        self.answer(CONTENT[start:], extra | {"ETag": etag, "X-Repo-Commit": COMMIT}, 206 if asked else 200, most)
        if first:
            with contextlib.suppress(OSError):
                self.rfile.read(1)  # until the client is gone

    def answer(self, body: bytes, headers: dict[str, str], status: int = 200, most: int = len(CONTENT)) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:most])
            self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as home:
    address = f"http://127.0.0.1:{server.server_address[1]}"
    own = {
        "HF_ENDPOINT": address,
        "HF_HOME": home,
        "HF_HUB_CACHE": f"{home}/hub",
        "HF_HUB_OFFLINE": "",
        "NO_PROXY": "*",
    }
    command = [sys.executable, "-c", CODE]
    with subprocess.Popen(command, env=os.environ | own, stderr=subprocess.DEVNULL) as first:
        while first.poll() is None and not any(
            file.is_file() and file.stat().st_size >= SENT // 2 for file in Path(home).rglob("*.incomplete")
        ):
            time.sleep(0.05)
        first.kill()
    subprocess.run(command, env=os.environ | own, stderr=subprocess.DEVNULL, check=True)
    report(
        Hub.ranges[1:] == [None], f"after a download that was killed, the next one asked for the range {Hub.ranges[1]}"
    )
