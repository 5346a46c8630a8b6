"""GET /: the page for browsers and the addresses for others, without a key."""

import re

import httpx
import pytest
from support.app import Client, error_of

from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.limits import Limits
from specvino.server.dialect import speaker
from specvino.server.settings import Settings, TelemetrySettings

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def emulating(name: str) -> Client:
    engine = ScriptedEngine()
    return Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))


def root(client: Client, **headers: str) -> httpx.Response:
    return client.ask("GET", "/", headers=headers)


def test_a_browser_gets_the_page_and_all_that_it_needs_without_a_key() -> None:
    client = Client(settings=Settings(keys=frozenset({"right"})))
    page = root(client, **BROWSER)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["vary"] == "Accept"
    needed = re.findall(r'(?:href|src)="([^"]*)"', page.text)
    assert len(needed) == 4
    for address in needed:
        assert client.ask("GET", f"/{address}").status_code == 200


def test_the_policy_has_no_exception_and_the_page_needs_none() -> None:
    page = root(Client(), **BROWSER)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "//" not in policy
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)", page.text)
    script = Client().ask("GET", "/web/chat.js").text
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|localStorage|cookie", script)


@pytest.mark.parametrize("headers", [{}, {"accept": "*/*"}, {"accept": "application/json"}])
def test_others_get_the_addresses_as_json(headers: dict[str, str]) -> None:
    client = Client()
    addresses = client.ask("GET", "/", headers=headers).json()
    assert addresses.keys() == {"name", "version", "base_url", "openapi", "docs", "metrics", "key_required"}
    assert client.ask("GET", f"/{addresses['base_url']}/models").status_code == 200
    for name in ("openapi", "docs", "metrics"):
        assert client.ask("GET", f"/{addresses[name]}").status_code == 200


def test_they_tell_whether_a_key_is_required_and_which_system_is_emulated() -> None:
    keyed = root(Client(settings=Settings(keys=frozenset({"right"})))).json()
    system = root(emulating("ovms")).json()
    assert (keyed["key_required"], system["key_required"]) == (True, False)
    assert (system["dialect"], system["base_url"]) == ("ovms", "v3")


def test_metrics_on_a_port_of_their_own_are_not_named() -> None:
    settings = Settings(telemetry=TelemetrySettings(metrics_port=0))
    assert "metrics" not in root(Client(settings=settings)).json()


def test_a_system_that_answers_at_the_root_keeps_its_answer() -> None:
    client = emulating("ollama")
    answer = root(client)
    assert (answer.status_code, answer.text) == (200, "Ollama is running")
    assert answer.headers["content-type"].startswith("text/plain")
    assert root(client, **BROWSER).headers["content-type"].startswith("text/html")
    assert root(client, accept="application/json").json()["dialect"] == "ollama"


def test_without_pages_all_get_json() -> None:
    client = Client(settings=Settings(web=False))
    addresses = root(client, **BROWSER).json()
    assert "docs" not in addresses
    for path in ("/docs", "/docs/page.js", "/web/chat.js"):
        error_of(client.ask("GET", path), 404, "not_found")


@pytest.mark.parametrize("path", ["/web", "/web/", "/web/index.html", "/web/__init__.py", "/web/../app.py", "/v1/"])
def test_there_is_nothing_else(path: str) -> None:
    error_of(Client().ask("GET", path), 404, "not_found")


def test_it_can_only_be_read() -> None:
    assert Client().ask("POST", "/").status_code in (404, 405)
