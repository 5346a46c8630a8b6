"""A Ray cluster that runs already, as `ray start` makes it: new settings come replica by replica."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
import yaml
from support.replicas import DEPLOY, SCRIPTED, Lines, deployed, ended, slow, streaming
from support.serving import PATIENCE, starting, wait_until

RAY = [sys.executable, "-m", "ray.scripts.scripts"]
SERVE = [sys.executable, "-m", "ray.serve.scripts"]
TOKEN = "sk-of-the-cluster-and-nobody-else"
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": TOKEN,
    "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": "specvino.server.ray.proxy.middlewares",
}
CHAT = "/chat/completions"


@dataclass
class Cluster:
    address: str
    dashboard: str


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory() as folder:
        port, dashboard, agent = free_ports(3)
        ports = [f"--port={port}", f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={agent}"]
        start = [*RAY, "start", "--head", "--block", "--include-dashboard=true", f"--temp-dir={folder}", *ports]
        output = subprocess.DEVNULL
        head = subprocess.Popen(start, env=os.environ | ENVIRONMENT, stdout=output, stderr=output)
        try:
            existing = Cluster(f"127.0.0.1:{port}", f"http://127.0.0.1:{dashboard}")
            wait_until(lambda: head.poll() is not None or answers(f"{existing.dashboard}/api/serve/applications/"))
            assert head.poll() is None
            yield existing
        finally:
            children = psutil.Process(head.pid).children(recursive=True)
            head.kill()  # by itself it takes half a minute to end
            for child in children:
                child.kill()
            head.wait()
            psutil.wait_procs(children, PATIENCE)


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(number)]


def answers(url: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(url, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    return False


def test_new_settings_come_without_a_request_lost(cluster: Cluster, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/v1"

    def configure(*names: str) -> None:
        args = {"engine": "scripted", "served_model_name": list(names), "response_store": "none", "replicas": 2}
        application = {
            "name": "specvino",
            "route_prefix": "/",
            "import_path": "specvino.server.ray:app",
            "args": args | {"cpus_per_replica": 0, "shutdown_timeout": PATIENCE},
        }
        file = tmp_path / "specvino.yaml"
        file.write_text(yaml.safe_dump({"http_options": {"port": port}, "applications": [application]}), "utf-8")
        deploy = [*SERVE, "deploy", "-a", cluster.dashboard, str(file)]
        subprocess.run(deploy, check=True, env=os.environ | ENVIRONMENT, stdout=subprocess.DEVNULL)

    def served() -> set[str]:
        with contextlib.suppress(httpx.TransportError, KeyError):
            return {model["id"] for model in httpx.get(f"{url}/models", timeout=PATIENCE).json()["data"]}
        return set()

    async def update() -> tuple[list[Lines], list[int]]:
        """Goes on asking until twenty answers in a row come from replicas with the new settings."""
        bodies = [(CHAT, slow(CHAT, number, 100, delay=0.1)) for number in range(8)]
        statuses: list[int] = []
        new = 0
        async with streaming(url, bodies) as streams, httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            updating = asyncio.create_task(asyncio.to_thread(configure, "m", "new"))
            while new < 20:
                answer = await client.get("/models", headers={"x-session-id": str(len(statuses))})
                statuses.append(answer.status_code)
                new = new + 1 if '"new"' in answer.text else 0
            await updating
            return await asyncio.gather(*streams), statuses

    configure("m")
    wait_until(lambda: served() == {"m"})
    streams, statuses = asyncio.run(update())
    assert all(ended(lines) for lines in streams)
    assert set(statuses) == {200}
    assert served() == {"m", "new"}


def test_deploy_comes_and_goes_on_a_cluster_that_stays(cluster: Cluster) -> None:
    options = (*SCRIPTED, "--address", cluster.address)
    with deployed(*options, env=ENVIRONMENT) as server:
        assert httpx.get(f"{server.url}/models", timeout=PATIENCE).status_code == 200
        assert server.stop() == 0
    # Ray's proxies stay, and their port is the first one's; who can reach them isn't known.
    with starting(*options, env=ENVIRONMENT, command=DEPLOY) as refused:
        assert refused.process.wait(PATIENCE) == 2
        assert "other machines may reach the running proxies" in refused.output
    same = ("--port", server.url.removesuffix("/v1").rpartition(":")[2], "--insecure")
    with starting(*options, *same, env=ENVIRONMENT, command=DEPLOY) as second:
        wait_until(lambda: "specvino: serving m behind the running proxies" in second.output)
        assert httpx.get(f"{server.url}/models", timeout=PATIENCE).status_code == 200
        assert second.stop() == 0
    gone = httpx.get(f"{server.url}/models", timeout=PATIENCE)
    assert (gone.status_code, gone.json()["error"]["code"]) == (503, "engine_unavailable")
