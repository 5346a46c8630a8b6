"""Web pages of other origins."""

import pytest
from support.app import MINIMAL, Client

from specvino.server.origins import OriginError, parse
from specvino.server.settings import Settings

PAGE = "https://chat.example"
ALLOWED = "access-control-allow-origin"


def client(*origins: str, keys: frozenset[str] = frozenset()) -> Client:
    return Client(settings=Settings(keys=keys, origins=parse(origins)))


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
    assert answer.status_code == 400
    assert ALLOWED not in answer.headers


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
        parse([value])
