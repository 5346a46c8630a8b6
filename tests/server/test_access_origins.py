"""Web pages of other origins."""

import json

import pytest
from support.app import MINIMAL, Client, error_of

from specvino.server.access import OriginError, allowed_origins
from specvino.server.dialect import System
from specvino.server.settings import Settings

PAGE = "https://chat.example"
ALLOWED = "access-control-allow-origin"


def client(*origins: str, keys: frozenset[str] = frozenset()) -> Client:
    return Client(settings=Settings(keys=keys, origins=allowed_origins(origins)))


def preflight(client: Client, origin: str = PAGE):
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-stainless-retry-count",
    }
    return client.ask("OPTIONS", "/v1/chat/completions", headers=headers)


def test_none_may_unless_its_origin_is_named() -> None:
    assert preflight(client()).status_code == 405
    assert ALLOWED not in client().ask("GET", "/v1/models", headers={"origin": PAGE}).headers
    answer = preflight(client(PAGE), "https://other.example")
    error = error_of(answer, 403, "origin_not_allowed")
    assert "'https://other.example'" in error["message"]
    assert ALLOWED not in answer.headers


def test_a_method_that_no_page_may_use_is_refused_by_the_same_words() -> None:
    headers = {"origin": PAGE, "access-control-request-method": "PATCH"}
    answer = client(PAGE).ask("OPTIONS", "/v1/chat/completions", headers=headers)
    assert "method" in error_of(answer, 403, "origin_not_allowed")["message"]


@pytest.mark.parametrize(
    "header", [{"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}]
)
def test_what_a_page_can_send_unasked_is_refused(header) -> None:
    """A browser asks before it sends JSON, but not before it sends a text, a form, or a body without a type."""
    raw = json.dumps(MINIMAL).encode()
    for media in ({}, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}):
        answer = client().ask("POST", "/v1/chat/completions", content=raw, headers=header | media)
        error_of(answer, 415, "unsupported_media_type")
    media = {"content-type": "application/json"}
    assert client().ask("POST", "/v1/chat/completions", content=raw, headers=header | media).status_code == 200


@pytest.mark.parametrize("origins", [(PAGE,), ("*",), ("http://localhost:3000, https://Chat.example",)])
def test_pages_of_an_origin_that_is_named(origins) -> None:
    answer = preflight(client(*origins, keys=frozenset({"k"})))
    assert answer.status_code == 200
    assert answer.headers[ALLOWED] in (PAGE, "*")
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "x-stainless-retry-count" in answer.headers["access-control-allow-headers"]
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(MINIMAL, 200), ({**MINIMAL, "stream": True}, 200), ({}, 400), ({**MINIMAL, "model": "?"}, 404)],
)
def test_a_page_can_read_every_answer(body, status) -> None:
    answer = client(PAGE).ask("POST", "/v1/chat/completions", json=body, headers={"origin": PAGE})
    assert (answer.status_code, answer.headers[ALLOWED]) == (status, PAGE)
    assert "X-Request-Id" in answer.headers["access-control-expose-headers"]
    assert "Origin" in answer.headers["vary"]


def test_a_page_needs_the_key() -> None:
    locked = client(PAGE, keys=frozenset({"k"}))
    answer = locked.ask("GET", "/v1/models", headers={"origin": PAGE})
    assert (answer.status_code, answer.headers[ALLOWED]) == (401, PAGE)
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "value", ["example.com", "https://a.example/", "https://a.example/x", "null", "https://*.a.example"]
)
def test_what_is_no_origin(value) -> None:
    with pytest.raises(OriginError, match="allowed origin"):
        allowed_origins([value])


@pytest.mark.parametrize("path", ["/v3/chat/completions", "/nowhere"])
def test_ovms_answers_options_anywhere_but_only_the_operator_allows_origins(path) -> None:
    system = System("ovms", ("m",), {})
    headers = {"origin": PAGE, "access-control-request-method": "POST"}
    answer = Client(settings=Settings(system=system, keys=frozenset({"k"}))).ask("OPTIONS", path, headers=headers)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["access-control-allow-headers"] == answer.headers["access-control-allow-methods"] == "*"
    assert ALLOWED not in answer.headers
    named = Client(settings=Settings(system=system, origins=allowed_origins([PAGE])))
    assert named.ask("OPTIONS", path, headers=headers).headers[ALLOWED] == PAGE
