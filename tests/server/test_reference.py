"""GET /docs: the API reference, without a key and from the wheel alone."""

import json
import re
from typing import Any

import httpx
import pytest
from support.app import Client, error_of
from support.serving import PATIENCE
from support.serving_here import serving_here

from specvino.server.settings import Settings


@pytest.fixture(params=[frozenset(), frozenset({"right"})], ids=["open", "with keys"])
def client(request):
    return Client(settings=Settings(keys=request.param))


def test_the_page_and_all_that_it_needs_are_there_without_a_key(client) -> None:
    page = client.ask("GET", "/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    needed = re.findall(r'(?:href|src)="([^"]*)"', page.text)
    assert len(needed) == 4
    assert "default-src 'none'; script-src 'self'; " in page.headers["content-security-policy"]
    for answer in (page, *(client.ask("GET", f"/{address}") for address in needed)):
        assert answer.status_code == 200
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_script_is_sent_again_only_if_it_changed() -> None:
    client = Client()
    script = client.ask("GET", "/docs/scalar.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert len(script.content) > 1_000_000
    # A proxy that compresses makes tags weak.
    for tags in (script.headers["etag"], f'"other", W/{script.headers["etag"]}'):
        again = client.ask("GET", "/docs/scalar.js", headers={"If-None-Match": tags})
        assert (again.status_code, again.content) == (304, b"")
    assert client.ask("GET", "/docs/scalar.js", headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_page_names_no_other_host(client) -> None:
    around = re.sub(r'(?s)<script id="document".*?</script>', "", client.ask("GET", "/docs").text)
    assert 0 < len(around) < 1000
    assert "//" not in around


def shown(page: str) -> dict[str, Any]:
    assert 'data-sends="true"' in page
    within = re.search(r'(?s)<script id="document" type="application/json">(.*?)</script>', page)
    assert within
    document: dict[str, Any] = json.loads(within[1])
    return document


@pytest.mark.parametrize("keys", [{}, {"SPECVINO_API_KEY": "right"}], ids=["open", "with keys"])
@pytest.mark.parametrize(
    ("options", "title"), [([], "Specvino"), (["--dialect", "vllm"], "The OpenAI-compatible API of vLLM")]
)
def test_the_page_has_the_document_of_the_running_server(options, title, keys) -> None:
    with serving_here("--engine", "scripted", *options, env=keys) as server:
        root = server.url.removesuffix("/v1")
        document = httpx.get(f"{root}/openapi.json", timeout=PATIENCE).json()
        newer = httpx.get(f"{root}/openapi.json?version=3.2", timeout=PATIENCE).json()
        page = httpx.get(f"{root}/docs", timeout=PATIENCE).text
    for each in (document, newer, shown(page)):
        assert each["info"]["title"] == title
        assert each["paths"].keys() == document["paths"].keys()
        assert ("securitySchemes" in each["components"]) == bool(keys)
    assert document["openapi"].startswith("3.1" if options else "3.2")
    assert newer["openapi"].startswith("3.2")


def test_the_document_is_in_the_page_with_the_events_of_its_streams() -> None:
    record = shown(Client().ask("GET", "/docs").text)
    event = record["components"]["schemas"]["ChatCompletionServerSentEvent"]["properties"]["data"]
    assert {"$ref": "#/components/schemas/ChatCompletionStreamEvent"} in event["anyOf"]


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/nothing", "/docs/__init__.py", "/docs/../app.py", "/docsx", "/v1/docs"]
)
def test_there_is_nothing_else(path) -> None:
    error_of(Client().ask("GET", path), 404, "not_found")


def test_it_can_only_be_read() -> None:
    answer = Client().ask("POST", "/docs")
    error_of(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["allow"]
