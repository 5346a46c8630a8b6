"""Validity of documents and schemas."""

import pytest

from specvino.codegen import project
from specvino.codegen.lint import lint
from specvino.document import transforms


def test_openapi(spec) -> None:
    spec.document["info"]["titel"] = "x"
    assert [str(problem) for problem in lint(spec)] == [
        f"openapi: {version}: info: Unevaluated properties are not allowed ('titel' was unexpected)"
        for version in ("3.2", "3.1")
    ]


def test_what_only_the_older_version_asks_for(chat, only) -> None:
    del chat["responses"]["200"]["description"]
    only("openapi", "3.1: paths//chat/completions/post/responses/200", "description")


def test_the_lowered_document_is_judged_too(monkeypatch, only) -> None:
    def broken(document, original=transforms.to_31):
        return {**original(document), "info": {"version": "1"}}

    monkeypatch.setattr(transforms, "to_31", broken)
    only("openapi", "3.1: info", "title")


def test_what_a_system_has_is_judged_too(spec, only) -> None:
    spec.dialects["vllm"]["base_paths"] = [1]
    only("openapi", "vllm: servers/0/url", "string")


def test_a_system_s_default_fits_its_schema(spec) -> None:
    spec.dialects["vllm"]["fields"]["chat"]["request"]["temperature"] = {"level": "full", "default": "warm"}
    problems = [str(problem) for problem in lint(spec)]
    assert any(
        line.startswith("default: vllm: CreateChatCompletionRequest/properties/temperature: ") for line in problems
    )


def test_examples_of_what_a_system_has_are_judged_too(monkeypatch, spec) -> None:
    spec.dialects["ovms"]["version"]["name"] += "-rc1"  # what a test leaves as it is isn't projected again
    monkeypatch.setattr(project, "drop_examples", lambda document, fits: None)
    problems = [str(problem) for problem in lint(spec)]
    assert any(line.startswith("examples: ovms: ErrorResponse") or "examples: ovms: " in line for line in problems), (
        problems
    )


def test_an_unquoted_comma(schemas, only) -> None:
    schemas["Usage"]["properties"]["total_tokens"] |= {"description": "The sum", "of both": None}
    only("schema", "Usage/properties/total_tokens", "'of both' is a key without a value", "comma needs quotes")


def test_an_unknown_keyword(request_fields, only) -> None:
    request_fields["user"]["maxLenght"] = 3
    only("schema", "user", "'maxLenght' is not a keyword")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "strng"}, ["user type", "strng"]),
        ({"maxLength": -1}, ["user maxLength", "-1"]),
        ({"pattern": "("}, ["user pattern"]),
        ({"not": {"type": 3}}, ["user/not type"]),
    ],
)
def test_an_invalid_schema(request_fields, only, change, words) -> None:
    request_fields["user"].update(change)
    only("schema", *words)


def test_schemas_inside_a_stream_are_looked_at(schemas, only) -> None:
    branch = schemas["ChatCompletionServerSentEvent"]["properties"]["data"]["anyOf"][1]
    branch["contentSchema"]["minLength"] = "x"
    only("schema", "contentSchema minLength")


def test_schemas_of_parameters_are_looked_at(spec, only) -> None:
    spec.document["paths"]["/models/{model}"]["parameters"][0]["schema"]["maxLenght"] = 3
    only("schema", "GET /models/{model} parameter model", "maxLenght")


def test_supported_values_is_looked_at(request_fields, only) -> None:
    request_fields["logit_bias"]["x-supported-values"] = {"maxPropertes": 0}
    only("schema", "logit_bias x-supported-values", "maxPropertes")


@pytest.mark.parametrize("kind", ["operation", "property"])
def test_an_unknown_extension(chat, request_fields, only, kind) -> None:
    node = {"operation": chat, "property": request_fields["user"]}[kind]
    node["x-orgin"] = "openai"
    only("extension", "x-orgin", "x-origin")


def test_a_property_may_have_any_name(spec, schemas) -> None:
    field = dict(schemas["Version"]["properties"]["version"])
    del field["x-support"]
    schemas["Version"]["properties"] |= {"default": field, "x-odd": field, "not": field, "$ref": field}
    # They are properties like others: all that is missing is their support.
    assert {problem.rule for problem in lint(spec)} == {"support"}
