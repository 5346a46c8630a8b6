"""The headers and errors of a system's answers."""

import pytest
from support.tiny_document import dialect, object_of, ref, talk

from specvino.codegen.project import project

IDENTIFIED = {"X-Id": {"schema": {"type": "string"}}, "X-Ours": {"schema": {"type": "string"}}}


def answers(head, *statuses, body=True, fields=None):
    """The answers in a system with this head, of an operation that has these statuses here."""
    document = talk(answer=object_of(id={"type": "string"}))
    operation = document["paths"]["/talk"]["post"]
    operation["responses"]["200"]["headers"] = IDENTIFIED
    for status in statuses:
        operation["responses"][status] = {"$ref": f"#/components/responses/S{status}"}
    content = {"application/json": {"schema": ref("ErrorResponse")}}
    document["components"]["responses"] = {
        f"S{status}": {"description": status, "headers": IDENTIFIED, "content": content} for status in statuses
    }
    if not body:
        del operation["requestBody"]
    projected = project(
        document, dialect(**{"request": {}, "response": {"id": "full"}, "error": "full"} | (fields or {})) | head
    )
    return projected["paths"]["/talk"]["post"]["responses"], projected


def errors(envelope="openai", envelopes=None, at=None, envelopes_at=None, **statuses):
    forms = {"envelope": envelope, "envelopes": envelopes or {}, "at": at or {}, "envelopes_at": envelopes_at or {}}
    return {"errors": {**forms, "statuses": statuses}}


@pytest.mark.parametrize(("sent", "left"), [([], None), (["X-Id"], ["X-Id"])])
def test_only_headers_that_the_system_sends(sent, left) -> None:
    responses, _ = answers({"headers": sent} | errors(fault=500), "500")
    for status in ("200", "500"):
        assert (list(responses[status]["headers"]) if "headers" in responses[status] else None) == left


def test_statuses_are_those_of_the_system() -> None:
    responses, _ = answers(errors(json=412, validation=[400, 422], fault=500, key=401), "400", "500")
    assert list(responses) == ["200", "400", "412", "422", "500"], "nothing is said of a key where we have none"
    assert responses["412"]["description"] != responses["400"]["description"] == responses["422"]["description"]
    assert "S400" not in str(responses)


def test_kinds_with_one_status_are_one_answer() -> None:
    responses, _ = answers(errors(key=500, fault=500), "401", "500")
    assert list(responses) == ["200", "500"]
    assert responses["500"]["description"] == "The key is missing or wrong. The server failed."


@pytest.mark.parametrize("status", [None, "unknown"])
def test_what_the_system_has_not_or_nobody_knows_is_left_out(status) -> None:
    responses, _ = answers(errors(too_large=status, fault=500), "413", "500")
    assert list(responses) == ["200", "500"]


def test_a_request_without_body_has_no_wrong_json() -> None:
    assert "412" not in answers(errors(json=412, validation=400), "400", body=False)[0]


def test_an_endpoint_has_its_own_statuses() -> None:
    system = errors(at={"talk": {"unknown_model": 500}, "other": {"unknown_model": 418}}, unknown_model=404)
    assert list(answers(system, "404")[0]) == ["200", "500"]


def test_forms_of_errors() -> None:
    head = errors(envelope="json text", envelopes={"401": "string", "500": "text"}, key=401, validation=400, fault=500)
    responses, document = answers(head, "400", "401", "500")
    schemas = document["components"]["schemas"]
    assert responses["400"]["content"] == {"application/json": {"schema": ref("ErrorInText")}}
    assert responses["401"]["content"] == {"application/json": {"schema": ref("ErrorText")}}
    assert list(responses["500"]["content"]) == ["text/plain"]
    assert {"ErrorInText", "ErrorInside", "ErrorText"} <= schemas.keys()
    assert not {"ErrorResponse", "ErrorDetail"} & schemas.keys()


def test_an_endpoint_has_its_own_forms() -> None:
    own = {"talk": {"404": "openai"}, "other": {"500": "text"}}
    head = errors("flat", {"404": "detail"}, envelopes_at=own, unknown_model=404, fault=500)
    responses, document = answers(head, "404", "500")
    assert responses["404"]["content"] == {"application/json": {"schema": ref("ErrorResponse")}}
    assert responses["500"]["content"] == {"application/json": {"schema": ref("FlatError")}}
    assert "ErrorDetail" not in document["components"]["schemas"]


@pytest.mark.parametrize(("opened", "statuses"), [(["talk"], ["200"]), (["other"], ["200", "401"])])
def test_an_endpoint_that_needs_no_key(opened, statuses) -> None:
    responses, document = answers({"auth": {"open": opened}} | errors(key=401), "401")
    assert list(responses) == statuses
    assert document["paths"]["/talk"]["post"].get("security") == ([] if opened == ["talk"] else None)
