"""Grammars of public schemas: what they allow satisfies the schemas."""

import jsonschema_rs
import pytest
from samples.judge import judge
from samples.outcomes import CRASH, outcome

from json_schemas.corpus import FAMILIES, Family


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.title)
def test_what_a_grammar_allows_satisfies_the_schema(family: Family) -> None:
    failed = []
    schemas = list(family.schemas())
    judged = 0
    for name, schema in schemas:
        result = outcome(schema)
        if result.refusal.startswith(CRASH):
            failed.append((name, result.refusal))
        if result.grammar is None:
            continue
        try:
            is_valid = judge(schema, result.free)
        except jsonschema_rs.ValidationError:  # it has a pattern that jsonschema-rs can't read
            continue
        judged += 1
        failed += [(name, text) for text in result.texts(3) if not is_valid(text)]
    assert failed == []
    assert judged > 0.5 * len(schemas)
