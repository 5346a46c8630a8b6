"""The files for a host without containers: nginx and Caddy before the server, and the unit of systemd."""

import contextlib
import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from support.serving import PATIENCE, serving, wait_until
from websockets.sync.client import connect

HOST = Path(__file__).parents[2] / "docs" / "host"
NAME = "ai.example.com"
# The fourth token never comes.
STREAMED = {
    "model": "scripted",
    "stream": True,
    "messages": [{"role": "user", "content": "script: stall_at=3\na b c d"}],
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@dataclass
class Proxy:
    """A proxy before a server. url: where clients find it, without /v1."""

    url: str
    trusted: ssl.SSLContext | bool


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

    def is_up() -> bool:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        return False

    try:
        wait_until(is_up)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextlib.contextmanager
def nginx(backend: int, folder: Path) -> Iterator[Proxy]:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    port = free_port()
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}"]
    subprocess.run([*openssl, "-keyout", folder / "key", "-out", folder / "pem"], check=True, capture_output=True)
    text = (HOST / "nginx.conf").read_text()
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{backend}").replace("listen 443", f"listen 127.0.0.1:{port}")
    text = re.sub(r"/etc/ssl/\S+\.pem", str(folder / "pem"), text)
    text = re.sub(r"/etc/ssl/\S+\.key", str(folder / "key"), text)
    whole = f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}} http {{ access_log off; {text} }}"
    (folder / "nginx.conf").write_text(whole)
    with running([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], port, folder / "log"):
        trusted = ssl.create_default_context(cafile=folder / "pem")
        trusted.check_hostname = False
        yield Proxy(f"https://127.0.0.1:{port}/ai", trusted)


@contextlib.contextmanager
def caddy(backend: int, folder: Path) -> Iterator[Proxy]:
    port = free_port()
    text = (HOST / "Caddyfile").read_text()
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{backend}").replace(f"\n{NAME} {{", f"\nhttp://{NAME}:{port} {{")
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n}}\n{text}")
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with running(command, port, folder / "log"):
        yield Proxy(f"http://127.0.0.1:{port}/ai", False)


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    name = request.param.__name__
    installed = shutil.which(name, path="/usr/bin:/usr/sbin:/usr/local/bin")
    assert installed, f"{name} isn't installed: apt-get install {name}"
    with serving("--engine", "scripted", "--allowed-hosts", NAME) as server:
        backend = int(re.findall(r":(\d+)/", server.url)[0])
        with request.param(backend, tmp_path_factory.mktemp(name)) as before:
            yield before


@pytest.fixture
def client(proxy: Proxy) -> Iterator[httpx.Client]:
    with httpx.Client(verify=proxy.trusted, headers={"Host": NAME}, timeout=PATIENCE) as client:
        yield client


def test_the_path_before_the_server(proxy: Proxy, client: httpx.Client) -> None:
    assert client.get(f"{proxy.url}/v1/models").json()["data"][0]["id"] == "scripted"
    for path in ("", "docs"):
        page = client.get(f"{proxy.url}/{path}", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assets = re.findall(r'(?:src|href)="([^"#:]+\.(?:js|css))"', page.text)
        assert assets
        for asset in assets:
            assert client.get(f"{proxy.url}/{asset}").status_code == 200
    document = client.get(f"{proxy.url}/openapi.json").json()
    assert httpx.URL(f"{proxy.url}/openapi.json").join(document["servers"][0]["url"]) == f"{proxy.url}/v1"


def test_events_come_when_they_are_sent(proxy: Proxy, client: httpx.Client) -> None:
    """The answer has no end, so a proxy that waits for more would show nothing of it."""
    with client.stream("POST", f"{proxy.url}/v1/chat/completions", json=STREAMED) as answer:
        events = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: {"))
        texts = (choice["delta"].get("content") for event in events for choice in event["choices"])
        assert len([next(text for text in texts if text) for _ in range(2)]) == 2


def test_a_body_that_is_too_large(proxy: Proxy, client: httpx.Client) -> None:
    """The server's largest comes through, and has too many tokens."""
    for size, status in ((8_000_000, 400), (9_000_000, 413)):
        body = {**STREAMED, "messages": [{"role": "user", "content": "x" * size}]}
        assert client.post(f"{proxy.url}/v1/chat/completions", json=body).status_code == status


def test_a_websocket(proxy: Proxy) -> None:
    context = proxy.trusted if isinstance(proxy.trusted, ssl.SSLContext) else None
    url = httpx.URL(proxy.url)
    address = f"{url.scheme.replace('http', 'ws')}://{NAME}:{url.port}{url.path}/v1/responses"
    connected = socket.create_connection(("127.0.0.1", url.port or 0))
    with connect(address, sock=connected, ssl=context, open_timeout=PATIENCE) as messages:
        messages.send(json.dumps({"type": "response.create", "model": "scripted", "input": "Hello", "store": False}))
        kinds: list[str] = []
        while "response.completed" not in kinds:
            kinds.append(json.loads(messages.recv(PATIENCE))["type"])
    assert kinds[0] == "response.created"


def test_the_unit_of_systemd(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze isn't installed: apt-get install systemd"
    unit = tmp_path / "specvino.service"
    unit.write_text((HOST / unit.name).read_text().replace("/opt/specvino/bin/specvino", shutil.which("true") or ""))
    checked = subprocess.run([program, "verify", unit], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
