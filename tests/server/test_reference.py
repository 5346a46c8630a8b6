"""GET /docs: the API reference, without a key and from the wheel alone."""

import re

import pytest
from support.app import Client, error_of

from specvino.server.settings import Settings


@pytest.fixture(params=[frozenset(), frozenset({"right"})], ids=["open", "with keys"])
def client(request):
    return Client(settings=Settings(keys=request.param))


def test_the_page_and_all_that_it_needs_are_there_without_a_key(client):
    page = client.ask("GET", "/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    needed = re.findall(r'(?:href|src)="([^"]*)"', page.text)
    assert len(needed) == 4
    for address in needed:
        assert client.ask("GET", f"/{address}").status_code == 200
    documents = re.findall(r'"url": "([^"]*)"', page.text)
    assert len(documents) == 6
    for address in documents:
        assert client.ask("GET", f"/{address}").json()["openapi"]


def test_the_page_names_no_other_host(client):
    assert "//" not in client.ask("GET", "/docs").text


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/nothing", "/docs/__init__.py", "/docs/../app.py", "/docsx", "/v1/docs"]
)
def test_there_is_nothing_else(path):
    error_of(Client().ask("GET", path), 404, "not_found")


def test_it_can_only_be_read():
    answer = Client().ask("POST", "/docs")
    error_of(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["allow"]
