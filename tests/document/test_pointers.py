"""Pointers and references, whose names may hold any character."""

import pytest

from specvino.document.pointers import at, component_name, escape, referred, resolved, schema_reference, unescape

ODD = "a/b~1~c"
DOCUMENT = {"components": {"schemas": {ODD: {"$ref": "#/components/schemas/Plain"}, "Plain": {"enum": [1, 2]}}}}


@pytest.mark.parametrize("name", ["plain", "/", "~", "~1", "~01", ODD])
def test_escaped_names_come_back(name):
    assert unescape(escape(name)) == name


def test_pointers_lead_through_objects_and_lists():
    assert at(DOCUMENT, "") is DOCUMENT
    assert at(DOCUMENT, "/components/schemas/Plain/enum/1") == 2
    assert at({"": {"x": 1}}, "//x") == 1


@pytest.mark.parametrize(
    "pointer", ["/nothing", "/components/schemas/Plain/enum/2", "/components/schemas/Plain/enum/x"]
)
def test_a_pointer_that_leads_nowhere(pointer):
    with pytest.raises(KeyError):
        at(DOCUMENT, pointer)


def test_references_are_followed_to_their_end():
    odd = {"$ref": schema_reference(ODD)}
    assert referred(DOCUMENT, odd["$ref"]) == {"$ref": "#/components/schemas/Plain"}
    assert resolved(DOCUMENT, odd) == {"enum": [1, 2]}
    assert component_name(odd["$ref"]) == ODD
