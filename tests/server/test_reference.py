"""GET /docs: the API reference, without a key and from the wheel alone."""

import json
import re

import pytest
from support.app import Client, error_of

from specvino.document.loading import whole
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
    for address in needed:
        assert client.ask("GET", f"/{address}").status_code == 200


def test_the_page_names_no_other_host(client) -> None:
    around = re.sub(r'(?s)<script id="document".*?</script>', "", client.ask("GET", "/docs").text)
    assert 0 < len(around) < 1000
    assert "//" not in around


def test_the_document_is_in_the_page_with_the_events_of_its_streams() -> None:
    page = Client().ask("GET", "/docs").text
    shown = re.search(r'(?s)<script id="document" type="application/json">(.*?)</script>', page)
    assert shown
    record = json.loads(shown[1])
    assert record["paths"].keys() == whole()["paths"].keys()
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
