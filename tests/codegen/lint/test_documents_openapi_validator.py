"""That what is quick finds what openapi-spec-validator finds, in its words."""

from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, OpenAPIV32SpecValidator

from specvino.codegen.lint.documents import Validator31, Validator32

SOUND: dict[str, Any] = {"type": "object", "properties": {"a": {"type": ["string", "null"], "pattern": "^a+$"}}}

WRONG: list[Any] = [
    {"type": "strin"},
    {"properties": {"a": {"minimum": "1"}}},
    {"oneOf": []},
    {"pattern": "("},
    {"type": "object", "discriminator": {"mapping": 1}},  # only OpenAPI's dialect knows discriminators
    {"type": "string", "default": 1},
    {"required": ["b"], "properties": {"a": {"type": "strin"}}},
    {"$schema": "https://example.com/dialect"},
    3,
]


@pytest.mark.parametrize("schema", [SOUND, *WRONG])
@pytest.mark.parametrize(
    ("version", "quick", "original"),
    [("3.1.0", Validator31, OpenAPIV31SpecValidator), ("3.2.0", Validator32, OpenAPIV32SpecValidator)],
)
def test_the_same_is_found(version: str, quick: Any, original: Any, schema: Any) -> None:
    document = {
        "openapi": version,
        "info": {"title": "A document", "version": "1"},
        "paths": {},
        "components": {"schemas": {"Sound": SOUND, "Judged": schema}},
    }
    errors = [(list(error.absolute_path), error.message) for error in quick(document).iter_errors()]
    assert errors == [(list(error.absolute_path), error.message) for error in original(document).iter_errors()]
    assert bool(errors) == (schema != SOUND)
