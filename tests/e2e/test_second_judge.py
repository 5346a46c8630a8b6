"""openapi-core, which shares no code with our validation or with Schemathesis, judges a sample of real JSON answers."""

import copy

import pytest
import requests
from openapi_core import OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse
from support.serving_here import serving_here

from specvino.document.loading import lowered
from specvino.document.operations import LINES

DOCUMENT = lowered()

KEY = "sk-judge"
WITH_KEY = {"Authorization": f"Bearer {KEY}"}

OPERATIONS = [
    (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
]


@pytest.fixture(scope="module")
def url(tiny_text):
    with serving_here(str(tiny_text.path), "--served-model-name", "m", env={"SPECVINO_API_KEY": KEY}) as server:
        yield server.url


@pytest.fixture(scope="module")
def judge(url):
    # openapi-core finds an operation by its server; the document's own is relative.
    return OpenAPI.from_dict({**copy.deepcopy(DOCUMENT), "servers": [{"url": url}]})


def examples(operation):
    """The bodies of an operation's examples with the name of our model, as JSON and not as streams."""
    if "requestBody" not in operation:
        return [None]
    of_body = operation["requestBody"]["content"]["application/json"]["examples"].values()
    without_stream = ({k: v for k, v in example["value"].items() if not k.startswith("stream")} for example in of_body)
    unasked = {"stream": False} if LINES in operation["responses"]["200"]["content"] else {}
    return [body | unasked | {"model": "m"} for body in without_stream]


def filled(url, path):
    """The operation's address: of the served model, or of a response, a conversation or an item that was stored for
    it."""
    path = path.replace("{model}", "m")
    if "{response_id}" in path:
        body: dict[str, str | bool] = {"model": "m", "input": "hello", "background": True}
        stored = requests.post(f"{url}/responses", json=body, headers=WITH_KEY, timeout=300)
        path = path.replace("{response_id}", stored.json()["id"])
    if "{conversation_id}" in path:
        items = [{"type": "message", "role": "user", "content": "hello", "id": "msg_1"}]
        stored = requests.post(f"{url}/conversations", json={"items": items}, headers=WITH_KEY, timeout=300)
        path = path.replace("{conversation_id}", stored.json()["id"]).replace("{item_id}", "msg_1")
    return url + path


def exchange(method, url, **options):
    response = requests.request(method, url, timeout=300, **options)
    return response, RequestsOpenAPIRequest(response.request), RequestsOpenAPIResponse(response)


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_answers(url, judge, path, method, operation) -> None:
    statuses = []
    for body in examples(operation):
        response, request, answer = exchange(method, filled(url, path), json=body, headers=WITH_KEY)
        judge.validate_request(request)
        judge.validate_response(request, answer)
        statuses.append(response.status_code)
    # An example may hold what this server must refuse.
    assert set(statuses) <= {200, 400, 404}
    assert statuses.count(200) >= len(statuses) / 2


def refused(path, method, operation):
    """Requests that must be refused, with the status."""
    if operation.get("security") != []:
        yield 401, {"headers": {"Authorization": "Bearer wrong"}}
    if "requestBody" in operation:
        yield 400, {"data": b"{"}
        if path != "/conversations":  # it requires no field
            yield 400, {"json": {}}
        if not path.startswith("/conversations"):  # they have no model
            yield 404, {"json": {**examples(operation)[0], "model": "gpt-9"}}
        yield 415, {"data": b"{}", "headers": WITH_KEY | {"Content-Type": "text/plain"}}


@pytest.mark.parametrize(
    ("path", "method", "status", "options"),
    [(path, method, *case) for path, method, operation in OPERATIONS for case in refused(path, method, operation)],
)
def test_errors(url, judge, path, method, status, options) -> None:
    options = {"headers": WITH_KEY | {"Content-Type": "application/json"}} | options
    response, request, answer = exchange(method, url + path.replace("{model}", "m"), **options)
    assert response.status_code == status, response.text
    judge.validate_response(request, answer)


def test_an_unknown_model(url, judge) -> None:
    response, request, answer = exchange("get", f"{url}/models/gpt-9", headers=WITH_KEY)
    assert response.status_code == 404
    judge.validate_response(request, answer)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (lambda response: response.headers.update({"content-type": "text/plain"}), "DataValidationError"),
        (lambda response: setattr(response, "status_code", 299), "ResponseNotFound"),
        (lambda response: setattr(response, "_content", b"[]"), "InvalidData"),
        (lambda response: setattr(response, "_content", response.content.replace(b"list", b"lost")), "InvalidData"),
        (lambda response: setattr(response, "_content", response.content.replace(b'"id"', b'"di"')), "InvalidData"),
        (lambda response: response.headers.update({"x-request-id": ""}), "InvalidHeader"),
    ],
)
def test_it_notices(url, judge, fault, problem) -> None:
    response, request, answer = exchange("get", f"{url}/models", headers=WITH_KEY)
    judge.validate_response(request, answer)
    fault(response)
    errors = list(judge.iter_response_errors(request, RequestsOpenAPIResponse(response)))
    assert [problem] == [type(error).__name__ for error in errors]
