"""Errors have the system's status and form."""

import json

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System

CHAT = "create_chat_completion"


def sent(name, code, operation=CHAT):
    status, media, body = System(name, ("m",), {}).error(operation, ApiError(code, "It is wrong.", param="n"), "req_1")
    return status, media.partition(";")[0], body.decode()


@pytest.mark.parametrize(
    ("name", "code", "status", "body"),
    [
        ("ovms", ErrorCode.INVALID_JSON, 412, {"error": "It is wrong."}),
        ("ovms", ErrorCode.MODEL_NOT_FOUND, 404, {"error": "It is wrong."}),
        ("vllm", ErrorCode.INVALID_API_KEY, 401, {"error": "It is wrong."}),
        ("vllm", ErrorCode.METHOD_NOT_ALLOWED, 405, {"detail": "It is wrong."}),
        ("mlc-llm", ErrorCode.INVALID_JSON, 422, {"detail": "It is wrong."}),
        (
            "mlc-llm",
            ErrorCode.INVALID_VALUE,
            400,
            json.dumps({"object": "error", "message": "It is wrong.", "code": 400}),
        ),
        (
            "vllm",
            ErrorCode.INVALID_VALUE,
            400,
            {"error": {"message": "It is wrong.", "type": "invalid_request_error", "param": "n", "code": 400}},
        ),
        (
            "fastdeploy",
            ErrorCode.INTEGER_BELOW_MIN_VALUE,
            400,
            {"error": {"message": "It is wrong.", "type": "invalid_request_error", "param": "n", "code": None}},
        ),
        (
            "sglang",
            ErrorCode.INVALID_VALUE,
            400,
            {"object": "error", "message": "It is wrong.", "type": "invalid_request_error", "param": "n", "code": 400},
        ),
    ],
)
def test_the_form(name, code, status, body) -> None:
    assert sent(name, code)[:2] == (status, "application/json")
    assert json.loads(sent(name, code)[2]) == body


def test_a_text_is_no_json() -> None:
    assert sent("ovms", ErrorCode.REQUEST_TOO_LARGE) == (413, "text/plain", "It is wrong.")


def test_a_status_that_nobody_knows_is_ours() -> None:
    assert sent("openai", ErrorCode.REQUEST_TOO_LARGE)[0] == 413


@pytest.mark.parametrize(("method", "status"), [("GET", 400), ("PUT", 406), (None, 400)])
def test_a_method_may_have_its_own_status(method, status) -> None:
    error = ApiError(ErrorCode.METHOD_NOT_ALLOWED, "It is wrong.")
    assert System("ovms", ("m",), {}).error("create_response", error, "req_1", method)[0] == status
    nowhere = ApiError(ErrorCode.NOT_FOUND, "It is wrong.")
    assert System("ovms", ("m",), {}).error(None, nowhere, "req_1", method)[0] == status


def test_what_is_no_operation_has_the_system_s_form_too() -> None:
    assert sent("mlc-llm", ErrorCode.NOT_FOUND, None) == (404, "application/json", '{"detail": "It is wrong."}')


@pytest.mark.parametrize(
    ("name", "code", "status"),
    [
        ("fastdeploy", ErrorCode.SERVER_BUSY, 429),
        ("fastdeploy", ErrorCode.RATE_LIMIT_EXCEEDED, 429),
        ("openai", ErrorCode.SERVER_BUSY, 429),
        ("ovms", ErrorCode.ENGINE_UNAVAILABLE, 500),
        ("ovms", ErrorCode.ENGINE_RESTARTED, 500),
    ],
)
def test_a_server_that_is_busy_or_down_has_the_system_s_status(name, code, status) -> None:
    """The first of those that the system answers with."""
    assert sent(name, code)[0] == status


@pytest.mark.parametrize("code", [ErrorCode.INVALID_API_KEY, ErrorCode.REQUEST_TOO_LARGE, ErrorCode.INVALID_VALUE])
def test_errors_of_ollama_s_own_api_are_texts(code) -> None:
    assert json.loads(sent("ollama", code, "ollama_chat")[2]) == {"error": "It is wrong."}
    assert isinstance(json.loads(sent("ollama", code)[2])["error"], dict)
