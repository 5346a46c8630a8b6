"""Schemas that libraries write: strict requests aren't refused, but for known ones, and what grammars allow satisfies
the schemas.
"""

from typing import Any

import pytest
from samples.judge import judge
from samples.libraries import known, refusal, schemas
from samples.outcomes import outcome

SCHEMAS = {(library, name): schema for library, name, schema in schemas()}


def parameters() -> list[Any]:
    """Libraries write many types alike, and `format: uri` beside a length takes a second: of schemas that differ by
    `$schema` at most, the first one is tried, and the others are left to `tox run -e exhaustive`."""
    listed: list[Any] = []
    tried: list[Any] = []
    for key, schema in SCHEMAS.items():
        own = {name: value for name, value in schema.items() if name != "$schema"}
        listed.append(pytest.param(*key, marks=[pytest.mark.exhaustive] if own in tried else []))
        tried.append(own)
    return listed


@pytest.mark.parametrize(("library", "name"), parameters())
def test_a_strict_request_is_refused_only_for_what_is_known(library: str, name: str) -> None:
    error = refusal(SCHEMAS[library, name])
    assert error == known().get(library, {}).get(name), "`python -m samples.libraries` writes what is known"


@pytest.mark.parametrize(("library", "name"), parameters())
def test_what_a_grammar_allows_satisfies_the_schema(library: str, name: str) -> None:
    schema: Any = SCHEMAS[library, name]
    lowered = outcome(schema)
    if lowered.grammar is None:
        assert name in known()[library]
        return
    is_valid = judge(schema, lowered.free)
    assert [text for text in lowered.texts(30) if not is_valid(text)] == []
