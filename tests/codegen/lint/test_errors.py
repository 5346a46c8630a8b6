"""Error codes, refusals, declared errors."""

import pytest

from specvino.codegen.lint import lint


@pytest.fixture
def codes(spec):
    return spec.errors["codes"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"meaning": ""}, "meaning must be given"),
        ({"meaning": None}, "meaning must be given"),
        ({"param": "no"}, "param must be given, as bool"),
        ({"retryable": None}, "retryable must be given"),
        ({"type": "user_error"}, "'user_error' is not one of"),
        ({"status": 200}, "the status 200 is not an error's"),
        ({"or so": None}, "'or so' is not known"),
    ],
)
def test_an_entry(codes, only, change, words) -> None:
    codes["not_found"].update(change)
    only("error-codes", "codes.not_found", words)


def test_a_type_without_meaning(spec, only) -> None:
    spec.errors["types"]["server_error"] = None
    only("error-codes", "types.server_error")


def test_a_refusal_of_an_unknown_code(chat, only) -> None:
    chat["x-refusals"][0]["code"] = "model_missing"
    only("refusals", "POST /chat/completions", "'model_missing' is not in errors.yaml")


def test_a_refusal_without_its_status(chat, only) -> None:
    del chat["responses"]["404"]
    only("refusals", "POST /chat/completions", "model_not_found has status 404")


def test_a_refusal_without_a_code(spec, chat) -> None:
    del chat["x-refusals"][0]["code"]
    problems = [str(problem) for problem in lint(spec)]
    assert problems == ['refusals: POST /chat/completions: x-refusals.0: "code" is a required property']


@pytest.mark.parametrize(("change", "words"), [({"when": ""}, "when: "), ({"so": None}, "'so' was unexpected")])
def test_the_form_of_a_refusal(chat, only, change, words) -> None:
    next(entry for entry in chat["x-refusals"] if entry["code"] == "model_not_found").update(change)
    only("refusals", "POST /chat/completions", words)


REASONS = {"500": "can fail", "401": "takes a key", "400": "has a body", "413": "has a body", "415": "has a body"}


@pytest.mark.parametrize(("status", "reason"), REASONS.items())
def test_an_error_that_is_not_declared(spec, chat, only, status, reason) -> None:
    # It goes to another operation, so that it is still used, and the refusals with it.
    others = spec.document["paths"]["/models"]["get"]
    others["responses"][status] = chat["responses"].pop(status)
    chat["x-refusals"] = []
    only("responses", "POST /chat/completions", status, reason)


def test_an_error_without_the_envelope(spec, only) -> None:
    version = {"schema": {"$ref": "#/components/schemas/Version"}, "examples": {"v": {"value": {"version": "1"}}}}
    spec.document["paths"]["/version"]["get"]["responses"]["500"] = {
        "description": "Odd.",
        "content": {"application/json": version},
    }
    only("responses", "GET /version 500", "ErrorResponse")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "model_not_found"}, "model_not_found has status 404, not 401"),
        ({"type": "server_error"}, "invalid_api_key has type authentication_error, not server_error"),
        ({"param": "model"}, "names no field"),
    ],
)
def test_an_example_that_contradicts_its_code(spec, codes, change, words) -> None:
    from specvino.codegen.lint.errors import examples

    response = spec.document["components"]["responses"]["Unauthorized"]
    response["content"]["application/json"]["examples"]["key"]["value"]["error"].update(change)
    assert any(words in str(problem) for problem in examples(spec))
