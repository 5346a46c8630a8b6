"""HTTPS, as `specvino serve` speaks it: answers, streams and refusals of broken requests."""

import re
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
from support.certificates import certificates
from support.serving import starting, wait_until


def test_https(tmp_path: Path) -> None:
    authority, certificate = certificates(tmp_path)
    with starting("--engine", "scripted", "--ssl-certfile", certificate) as server:
        wait_until(lambda: "specvino: serving" in server.output or server.process.poll() is not None)
        address = re.search(r"serving scripted at (https://\S+)/v1\n", server.output)
        assert address, server.output
        context = ssl.create_default_context(cafile=authority)
        with httpx.Client(base_url=address[1], verify=context) as client:
            assert client.get("/v1/models").status_code == 200
            body = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "stream": True}
            assert client.post("/v1/chat/completions", json=body).text.endswith("data: [DONE]\n\n")
        url = httpx.URL(address[1])
        with (
            socket.create_connection((url.host, url.port or 0)) as plain,
            context.wrap_socket(plain, server_hostname=url.host) as encrypted,
        ):
            encrypted.sendall(b"nonsense\r\n\r\n")
            answer = b"".join(iter(lambda: encrypted.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 400 ")
        chat = [sys.executable, "-m", "specvino.cli", "chat", address[1], "-"]
        refused, unread, answered = (
            subprocess.run([*chat, *options], input="hi", capture_output=True, text=True, check=False)
            for options in ([], ["--cacert", "/dev/null"], ["--cacert", authority])
        )
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "certificate verify failed" in refused.stderr
        assert (unread.returncode, unread.stdout) == (2, "")
        assert "/dev/null has no readable certificates" in unread.stderr
        assert (answered.returncode, answered.stderr) == (0, "")
        assert answered.stdout.strip()
        assert server.stop() == 0
    assert "Traceback" not in server.output
