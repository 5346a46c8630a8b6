"""A server with a local model asks no other machine for anything, from start to end, in any of its processes."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from support.serving import serving

from specvino.engine.models import ModelSource

# Python's own record of what it connects to and looks up: an audit hook, in each process that has the folder on its
# path. What native libraries connect to isn't seen; none of ours has a reason to.
HOOK = """
import os, sys

def noted(event, arguments):
    if event == "socket.getaddrinfo":
        asked = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        asked = arguments[1][0]
    else:
        return
    if isinstance(asked, bytes):
        asked = asked.decode("latin-1")
    if asked not in (None, "", "localhost", "::1") and not asked.startswith("127."):
        with open(os.environ["ASKED_FOR"], "a") as file:
            file.write(f"{event} {asked} {sys.argv[:3]}\\n")

sys.addaudithook(noted)
with open(os.environ["ASKED_FOR"] + ".processes", "a") as file:
    file.write("one\\n")
"""


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """An environment in which Python tells what it asks for."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK, "utf-8")
    paths = [str(tmp_path / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), "ASKED_FOR": str(tmp_path / "asked")}


def asked_for(watched: dict[str, str]) -> str:
    file = Path(watched["ASKED_FOR"])
    return file.read_text("utf-8") if file.exists() else ""


def test_a_request_to_elsewhere_is_seen(watched: dict[str, str]) -> None:
    program = "import socket\ntry: socket.create_connection(('192.0.2.1', 9), 0.01)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **watched}, check=True)
    assert "socket.connect 192.0.2.1" in asked_for(watched)


def test_a_local_model_is_served_without_a_network(
    tiny_text: ModelSource, watched: dict[str, str], tmp_path: Path
) -> None:
    folders = {name: str(tmp_path / "home") for name in ("HOME", "SPECVINO_CACHE", "SPECVINO_DATA")}
    (tmp_path / "home").mkdir()
    ask = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    schema = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object", "properties": {}}}}
    with serving(str(tiny_text.path), "--served-model-name", "m", env={**watched, **folders}) as server:
        root = server.url.removesuffix("/v1")
        for path in ("/health", "/docs", "/openapi.json", "/metrics", "/version", "/v1/models"):
            assert httpx.get(root + path, timeout=300).status_code == 200, path
        for fields in ({}, {"logprobs": True, "top_logprobs": 2}, {"response_format": schema}):
            answer = httpx.post(f"{server.url}/chat/completions", json={**ask, **fields}, timeout=300)
            assert answer.status_code == 200, answer.text
        stored = httpx.post(f"{server.url}/responses", json={"model": "m", "input": "hello"}, timeout=300)
        assert stored.status_code == 200
    assert Path(f"{watched['ASKED_FOR']}.processes").read_text().count("one") > 3  # the server and its children
    assert asked_for(watched) == ""
