"""The image, built by Buildah on a root file system of Debian, and run without a container engine.

Debian's packages buildah and debootstrap have to be installed, and the tests run as root: each step is in a chroot.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.serving import PATIENCE, healthy, wait_until

ROOT = Path(__file__).parents[2]

# Where pip finds packages here, it has to find them from within, too: the root file system has this machine's settings.
# The certificates lie beside those that Debian's package writes.
CERTIFICATES = "/mnt/certificates.crt"


def buildah(*arguments: str, **options: Any) -> str:
    run = subprocess.run(["buildah", *arguments], stdout=subprocess.PIPE, text=True, **options)
    assert run.returncode == 0, run.stdout[-2000:]
    printed: str = run.stdout
    return printed.strip()


@pytest.fixture(scope="session")
def image() -> Iterator[str]:
    assert shutil.which("buildah"), "Buildah is not installed: apt-get install buildah debootstrap"
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder, "storage.conf")
        storage.write_text(f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/graph"\n')
        os.environ |= {"CONTAINERS_STORAGE_CONF": str(storage), "BUILDAH_ISOLATION": "chroot"}
        root = Path(folder, "debian")
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True, stdout=subprocess.DEVNULL)
        base = buildah("from", "scratch")
        buildah("add", base, str(root), "/")
        settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if Path("/etc/pip.conf").exists():
            buildah("add", base, "/etc/pip.conf", "/etc/pip.conf")
        if certificates := os.environ.get("SSL_CERT_FILE"):
            buildah("add", base, certificates, CERTIFICATES)
            settings |= dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), CERTIFICATES)
        buildah("config", "--cmd", "/bin/bash", *(f"--env={name}={value}" for name, value in settings.items()), base)
        buildah("commit", "--rm", base, "localhost/debian")
        build = ["build", "--pull-never", "--format", "docker", "--build-arg", "BASE=localhost/debian"]
        buildah(*build, "--tag", "specvino", "--file", str(ROOT / "containers" / "Containerfile"), str(ROOT))
        yield "localhost/specvino"


def test_it_says_how_it_is_run(image: str) -> None:
    config = json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]
    assert config["User"] == "1000"
    assert config["Entrypoint"] == ["specvino"]
    assert config["Cmd"] == ["serve", "--host", "0.0.0.0"]
    assert config["Volumes"].keys() == {"/var/cache/specvino", "/var/lib/specvino"}
    assert config["ExposedPorts"].keys() == {"8000/tcp"}
    assert config["Healthcheck"]["Test"][:2] == ["CMD", "wget"]


def test_it_serves_the_default_model_and_its_health_is_seen(image: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    container = buildah("from", image)
    check = [*json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]["Healthcheck"]["Test"][1:]]
    check[-1] = f"{url}/health"

    def inside(*command: str) -> list[str]:
        return ["buildah", "run", container, "--", *command]

    assert subprocess.run(inside(*check), check=False).returncode != 0
    serve = inside("specvino", "serve", "--port", str(port))
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        try:
            wait_until(lambda: server.poll() is not None or healthy(url))
            assert server.poll() is None
            body = {"model": "smollm2", "input": "What is the capital of France?", "temperature": 0}
            answer = httpx.post(f"{url}/v1/responses", json=body, timeout=PATIENCE).json()
            assert "Paris" in answer["output"][0]["content"][0]["text"]
            assert httpx.get(f"{url}/v1/responses/{answer['id']}").json()["status"] == "completed"
            assert subprocess.run(inside(*check), check=False).returncode == 0
            ids = subprocess.run(inside("id", "--user"), check=True, capture_output=True, text=True).stdout.strip()
            assert ids == "1000"
        finally:
            server.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(60)
            server.kill()
    left = buildah("run", container, "--", "find", "/var/cache/specvino", "/var/lib/specvino", "-name", "*.db")
    assert left == "/var/lib/specvino/responses.db"
