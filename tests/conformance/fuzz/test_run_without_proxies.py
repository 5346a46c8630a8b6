"""The layer speaks with the server that is judged, and with nobody else."""

import asyncio
import os
from typing import Any

import pytest
from reference_server.bench import KEY, MODEL
from reference_server.server import ReferenceServer
from support.asgi import answering
from support.certificates import certificates
from support.raw_server import chat, raw_server

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.layer import Fuzz
from specvino.conformance.fuzz.options import Options
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.conformance.verdict import Verdict


async def hears(asked):
    yield chat()


def fuzzed(server, key=KEY, filters=("models", "chat/fuzz/status-code-conformance")):
    async def run():
        async with answering(server) as url:
            fuzz = Fuzz(
                Target(url, key), Dialect("openai"), [MODEL], "core", filters=filters, options=Options(max_examples=5)
            )
            return await collected(fuzz)

    return asyncio.run(run())


class Redirecting(ReferenceServer):
    """To another server, with all that it is asked."""

    to = ""

    async def __call__(self, scope, receive, send):
        headers = [(b"location", (self.to + scope["path"]).encode()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


def test_redirects_are_not_followed() -> None:
    with raw_server(hears) as other:
        server = Redirecting(key=KEY, model=MODEL)
        # By another name it is another host, and by the same one another port: some clients tell these apart.
        for host in ("localhost", "127.0.0.1"):
            server.to = other.url.removesuffix("/v1").replace("127.0.0.1", host)
            results = fuzzed(server)
            assert results["models/fuzz/status-code-conformance"].verdict is Verdict.FAIL
            assert results["chat/fuzz/status-code-conformance"].verdict is Verdict.FAIL
        assert other.asked == []


def test_redirects_of_one_server_are_not_followed() -> None:
    class Turning(ReferenceServer):
        asked = 0

        async def __call__(self, scope, receive, send):
            if scope["path"] != "/v1/models":
                Turning.asked += scope["path"] == "/v1/elsewhere"
                await super().__call__(scope, receive, send)
                return
            headers = [(b"location", b"/v1/elsewhere"), (b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 302, "headers": headers})
            await send({"type": "http.response.body", "body": b"{}"})

    fuzzed(Turning(key=KEY, model=MODEL), filters=["models"])
    assert Turning.asked == 0


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_proxies_are_not_asked(monkeypatch, name) -> None:
    with raw_server(hears) as proxy:
        monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        results = fuzzed(ReferenceServer(key=KEY, model=MODEL))
        assert proxy.asked == []
        assert os.environ[name] == proxy.url
    assert "NO_PROXY" not in os.environ
    assert results["models/fuzz/status-code-conformance"].verdict is Verdict.PASS


def test_passwords_of_the_user_stay_at_home(monkeypatch, tmp_path) -> None:
    seen: list[Any] = []

    class Listening(ReferenceServer):
        async def __call__(self, scope, receive, send):
            seen.extend(value for name, value in scope["headers"] if name == b"authorization")
            await super().__call__(scope, receive, send)

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password home-secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    fuzzed(Listening(key=None, model=MODEL), key=None)
    assert not [value for value in seen if value.startswith(b"Basic")]


@pytest.mark.parametrize("how", ["cacert", "insecure"])
def test_a_certificate_of_ones_own(tmp_path, how) -> None:
    authority, certificate = certificates(tmp_path)

    def fuzzed_by(**target):
        fuzz = Fuzz(Target(server.url, None, timeout=5, **target), Dialect("openai"), ["m"], "core", filters=["models"])
        return asyncio.run(collected(fuzz))

    with raw_server(hears, tls=certificate) as server:
        results = fuzzed_by(**{how: authority if how == "cacert" else True})
        assert results["models/fuzz/status-code-conformance"].verdict is Verdict.PASS
        assert "models/fuzz/answers" not in results
        asked = len(server.asked)
        results = fuzzed_by()
        assert "certificate verify failed" in str(results["models/fuzz/answers"].findings)
        assert len(server.asked) == asked


async def collected(fuzz):
    return {result.rule: result async for result in fuzz.results()}


def test_a_probe_follows_nothing_and_no_proxy(monkeypatch) -> None:
    with raw_server(hears) as other:
        monkeypatch.setenv("http_proxy", other.url)

        async def run():
            server = Redirecting()
            server.to = other.url
            async with answering(server) as url:
                return await asyncio.to_thread(Server(Target(url, KEY), {"paths": {}}).status, "GET", "/models")

        assert asyncio.run(run()) == 307
        assert other.asked == []
