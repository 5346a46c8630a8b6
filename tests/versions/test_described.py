"""The documents of other systems agree with what the systems' classes describe, in the version that they name.

What rows derive from the descriptions agrees in any case; other versions don't.
"""

import copy
from typing import Any

import pytest

from specvino.document.loading import dialect_file, dialects, load, whole
from specvino.document.system_fields import system_name
from specvino.upstream import allow_list, description
from specvino.upstream.described import Unreadable
from specvino.upstream.drift import drift
from specvino.upstream.report import as_markdown
from specvino.upstream.table import Table, table

SYSTEMS = description.systems()


def is_readable(system: str) -> bool:
    try:
        table(system)
    except Unreadable:
        return False
    return True


def test_every_dialect_whose_classes_can_be_read_is_described() -> None:
    assert sorted(filter(is_readable, dialects())) == SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_there_is_no_new_difference(system) -> None:
    differences = drift(system, load(dialect_file(system)), whole(), description.read(system), allow_list.read(system))
    assert differences.is_clean, as_markdown(differences)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_described_version_is_that_of_the_document(system) -> None:
    entry = table(system)
    name, version = system_name(system), load(dialect_file(system))["x-dialect"]["version"]["name"]
    if isinstance(entry, Table):
        name, version = entry.distribution or name, entry.version or version
    source, described = description.read(system)
    assert source == f"{name} {version}"
    assert described.parts.keys() == {*(entry.classes if isinstance(entry, Table) else entry.parts)}


# Of another version of vLLM: a field that a row derives from the description, and its class's property.
CHANGES: dict[str, tuple[Any, str]] = {
    "gone": (None, "field"),
    "another type": ({"type": "integer", "default": False}, "values"),
    "null": ({"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": False}, "values"),
    "another default": ({"type": "boolean", "default": True}, "default"),
    "required": ({"type": "boolean"}, "absence"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_version_that_declares_a_derived_field_differently_drifts(change) -> None:
    source, described = description.read("vllm")
    changed = copy.deepcopy(described)
    body = changed.parts["chat", "request"]
    assert body["properties"].pop("ignore_eos") == {"type": "boolean", "default": False}
    schema, what = CHANGES[change]
    if schema:
        body["properties"]["ignore_eos"] = schema
    if change == "required":
        body["required"].append("ignore_eos")
    found = drift(
        "vllm", load(dialect_file("vllm")), whole(), (source, changed), allow_list.read("vllm"), ["chat.request"]
    )
    assert {(each.field, each.what) for each in found.differences} == {("chat.ignore_eos", what)}
