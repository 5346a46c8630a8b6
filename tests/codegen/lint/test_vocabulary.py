"""The document's own keywords: the lint, their JSON Schemas and openapi/README.md have the same ones."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import jsonschema_rs
import pytest

from specvino.codegen import spec as spec_module
from specvino.codegen.lint.vocabulary import keywords, misfits, validator
from specvino.codegen.project import project
from specvino.codegen.statuses import ENVELOPES, KINDS
from specvino.document.loading import VOCABULARY as VOCABULARY_FILE
from specvino.document.loading import dialect_file, lowered, systems, whole
from specvino.document.loading import load as load_published
from specvino.document.operations import by_endpoint, operations
from specvino.document.walk import all_schemas
from specvino.generated.systems import SYSTEMS

from ..conftest import ROOT

VOCABULARY = load_published(VOCABULARY_FILE)
DEFINITIONS = VOCABULARY["$defs"]
DEFINED = {name for name in DEFINITIONS if name.startswith("x-")}


def test_the_vocabulary_is_json_schema() -> None:
    assert jsonschema_rs.meta.is_valid(VOCABULARY)


def test_every_keyword_has_a_place() -> None:
    assert keywords(VOCABULARY) == DEFINED


def test_the_readme_has_every_keyword() -> None:
    readme = (ROOT / "openapi" / "README.md").read_text("utf-8")
    # What only `specvino spec --openapi 3.1` and `3.0` write, in place of keywords of OpenAPI, has no definition.
    lowered_to = {"x-default", "x-lost"}
    assert set(re.findall(r"^### `(x-[\w-]+)`", readme, re.MULTILINE)) == DEFINED | lowered_to


def test_the_document_uses_every_keyword() -> None:
    written = {*(ROOT / "openapi").rglob("*.yaml"), *(ROOT / "generated").rglob("*.json")}
    written -= {ROOT / "openapi" / "vocabulary.yaml", ROOT / "generated" / "vocabulary.json"}
    texts = "\n".join(file.read_text("utf-8") for file in written)
    # Only the document of a running server has facts, and only what `specvino spec` prints has links.
    assert [name for name in sorted(DEFINED - {"x-facts", "x-links"}) if not re.search(rf'\b{name}"?:', texts)] == []


@pytest.mark.parametrize("name", sorted(DEFINED - {"x-dialect"}))
def test_a_keyword_is_described_and_its_examples_fit(name) -> None:
    assert DEFINITIONS[name]["description"]
    assert DEFINITIONS[name]["examples"]
    for example in DEFINITIONS[name]["examples"]:
        assert misfits(VOCABULARY, name, example) == []


def test_whole_dialect_files_fit(real) -> None:
    for system, dialect in real.dialects.items():
        assert misfits(VOCABULARY, "Dialect", dialect) == [], system


def test_every_list_of_systems_has_the_same_ones(real) -> None:
    systems = DEFINITIONS["system"]["enum"]
    assert DEFINITIONS["x-origin"]["enum"] == [*systems, "anthropic", "specvino"]
    (parameter,) = [
        parameter for parameter in by_endpoint(real.document)["openapi"].parameters if parameter["name"] == "dialect"
    ]
    assert parameter["schema"]["enum"] == [*systems, *real.versions]
    assert list(SYSTEMS) == systems


PUBLISHED: dict[str, Callable[[], dict[str, Any]]] = {
    "3.2": whole,
    "3.1": lowered,
    **{system: partial(load_published, dialect_file(system)) for system in systems()},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_document_fits_the_published_vocabulary(name) -> None:
    document = PUBLISHED[name]()
    # `misfits` looks its validator up by the whole vocabulary, which takes longer than to judge a schema.
    root, operation, schema = (validator(VOCABULARY, kind) for kind in ("Document", "Operation", "Schema"))
    assert list(root.errors(document)) == []
    for one in operations(document):
        assert list(operation.errors(one.definition)) == [], one.label
    for location, node in all_schemas(document):
        assert list(schema.errors(node)) == [], location


def test_a_projected_table_that_does_not_fit(spec, only, monkeypatch) -> None:
    spec.dialects["vllm"]["version"]["name"] += "-rc1"  # what a test leaves as it is isn't projected again

    def broken(document, dialect, original=project):
        projected = original(document, dialect)
        if dialect["version"]["name"].endswith("-rc1"):
            projected["paths"]["/chat/completions"]["post"]["x-stream"]["silnet"] = True
        return projected

    monkeypatch.setattr(spec_module, "project", broken)
    only("x-stream", "vllm: POST /chat/completions x-stream", "'silnet' was unexpected")


def test_statuses_and_envelopes_are_those_of_codegen() -> None:
    assert DEFINITIONS["envelope"]["enum"] == list(ENVELOPES)
    kinds = {kind for of_status in KINDS.values() for kind in of_status} | {"unknown_route", "method"}
    errors = DEFINITIONS["errors"]["properties"]
    assert set(errors["statuses"]["required"]) == errors["statuses"]["properties"].keys() == kinds
    assert errors["at"]["additionalProperties"]["properties"].keys() == kinds


@pytest.mark.parametrize(
    ("holder", "key", "value"),
    [
        ("chat", "x-origin", "openai"),
        ("property", "x-endpoint", "chat"),
        ("response", "x-refusals", []),
    ],
)
def test_a_keyword_where_it_may_not_stand(chat, request_fields, only, holder, key, value) -> None:
    node = {"chat": chat, "property": request_fields["user"], "response": chat["responses"]["400"]}[holder]
    node[key] = value
    only("extension", key)


def test_an_error_needs_a_condition(request_fields, only) -> None:
    request_fields["user"] |= {"x-error": {"param": "user", "message": "No."}, "then": True}
    only("extension", "user", '"if" is a required property')
