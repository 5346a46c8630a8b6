"""No law is known to one side only: the lint, the table's classes and the invariants have the same ones."""

import dataclasses
import typing
from pathlib import Path

import pytest

from specvino.codegen.emit.tables import FIELD_NAMES
from specvino.codegen.source import load
from specvino.conformance.streams.invariants import INVARIANTS
from specvino.generated import streams

DEFINITIONS = load(Path(__file__).parents[3] / "openapi" / "vocabulary.yaml")["$defs"]
WORDS = DEFINITIONS["law"]["properties"]["law"]["enum"]
CLASSES = {law.__name__: law for law in typing.get_args(streams.Law)}


def class_name(law):
    return law.title().replace(" ", "")


def test_all_have_the_same_laws() -> None:
    assert {class_name(law) for law in WORDS} == CLASSES.keys()
    assert INVARIANTS.keys() == set(CLASSES.values())
    assert [invariant.__name__ for invariant in INVARIANTS.values()] == [
        f"{law.__name__}Invariant" for law in INVARIANTS
    ]


@pytest.mark.parametrize("law", WORDS)
def test_a_law_has_the_same_parameters(law) -> None:
    definition = DEFINITIONS[f"law-{law.replace(' ', '-')}"]
    words = {FIELD_NAMES.get(word, word) for word in definition["properties"].keys() - {"law"}}
    assert words == {field.name for field in dataclasses.fields(CLASSES[class_name(law)])}


def test_a_text_has_the_same_parameters() -> None:
    words = DEFINITIONS["texts"]["items"]["properties"]
    assert {FIELD_NAMES.get(word, word) for word in words} == {field.name for field in dataclasses.fields(streams.Text)}
