"""Every schema of the benchmark converts, and the shortest text of its grammar satisfies it."""

import json
from typing import Any

import jsonschema_rs
import pytest
from bench.real_schemas import real_schemas

from specvino.engine.request import JsonSchema
from specvino.engine.structured_output import example

SCHEMAS = dict(real_schemas())


def test_there_are_enough_of_them() -> None:
    assert len(SCHEMAS) >= 60


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_shortest_text_of_a_schema_satisfies_it(schema: dict[str, Any]) -> None:
    assert json.loads(json.dumps(schema)) == schema, "YAML made of it what JSON doesn't know"
    jsonschema_rs.meta.validate(schema)
    text = example(JsonSchema(schema))
    assert text is not None
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(json.loads(text))
