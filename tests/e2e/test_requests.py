"""What real clients send (tests/requests and conformance/clients) is valid by the document, is built, and is
answered as the file says."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.app import error_of
from support.streams import judged

from specvino.conformance.clients.profile import all_clients
from specvino.document import yaml_text
from specvino.document.loading import whole
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.generated.handlers import OPERATIONS, Operation
from specvino.server.validation.schema import SchemaCheck

REQUESTS = Path(__file__).parents[1] / "requests"


@dataclass(frozen=True)
class Request:
    """One entry of a file."""

    id: str
    operation: Operation
    body: dict[str, Any]
    refusal: dict[str, Any] | None
    """The error's code and param, where this server must refuse the body."""

    @property
    def declared(self) -> dict[str, Any]:
        """What the document says of the operation."""
        item: dict[str, Any] = whole()["paths"][self.operation.path][self.operation.method.lower()]
        return item


def load() -> Iterator[Request]:
    for operation in OPERATIONS.values():
        for file in sorted((REQUESTS / operation.endpoint).glob("*.yaml")):
            for entry in yaml_text.load(file.read_text("utf-8")):
                assert entry.keys() <= {"name", "client", "note", "refusal", "body"}
                name = f"{operation.endpoint}-{file.stem}-{entry['name']}"
                yield Request(name, operation, entry["body"], entry.get("refusal"))
    by_endpoint = {operation.endpoint: operation for operation in OPERATIONS.values() if operation.body}
    for client in all_clients().values():
        for request in client.requests:
            name = f"{request.endpoint}-{client.name}-{request.name}"
            yield Request(name, by_endpoint[request.endpoint], request.body, None)


ALL = list(load())
each_request = pytest.mark.parametrize("request_", ALL, ids=lambda request: request.id)


def test_there_are_enough_of_each_endpoint_and_no_name_twice() -> None:
    counts = Counter(request.operation.endpoint for request in ALL)
    ollama = {"ollama_chat", "ollama_generate"}
    assert {"chat", "completions", "responses", *ollama} == {file.parent.name for file in REQUESTS.glob("*/*.yaml")}
    assert min(counts[endpoint] for endpoint in ("chat", "completions", "responses")) >= 15
    assert counts.total() >= 60
    assert max(Counter(request.id for request in ALL).values()) == 1


@each_request
def test_the_document_allows_it_and_the_model_holds_it(request_) -> None:
    SchemaCheck.of_component(request_.operation.body).require(request_.body)
    built = request_.operation.model.model_validate(request_.body)
    assert json.loads(built.model_dump_json(exclude_unset=True, by_alias=True)) == request_.body


@pytest.fixture(scope="module")
def client(scripted_server):
    with httpx.Client(base_url=scripted_server.url, timeout=300) as client:
        yield client


@each_request
def test_the_server_answers_it(client, request_) -> None:
    operation = request_.operation
    response = client.request(operation.method, operation.path, json=request_.body | {"model": "m"})
    if request_.refusal:
        code = request_.refusal["code"]
        assert code in {refusal["code"] for refusal in request_.declared["x-refusals"]}
        error = error_of(response, ERRORS[ErrorCode(code)].status, code)
        assert error["param"] == request_.refusal["param"]
        return
    assert response.status_code == 200, response.text
    if request_.body.get("stream"):
        assert judged(operation.endpoint, response)
    else:
        SchemaCheck(request_.declared["responses"]["200"]["content"]["application/json"]["schema"]).require(
            response.json()
        )
