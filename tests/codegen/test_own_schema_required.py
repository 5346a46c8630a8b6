"""What a system asks of a request, and what its answers always have."""

import pytest
from support.tiny_document import dialect, kind, object_of, ref, talk

from specvino.codegen.project import project

TEXT = {"type": "string"}


def asked(document, **request):
    return project(document, dialect(request=request, response={}))["components"]["schemas"]


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("full", {}),
        ("unknown", {}),
        ({"level": "partial", "note": "Odd.", "default": 40}, {"default": 40}),
        ({"level": "full", "default": 0}, {"default": 0}),
        ({"level": "full", "default": None}, {}),
        ({"level": "full", "schema": {"type": "integer", "maximum": 10}, "default": 5}, {"default": 5}),
    ],
)
def test_a_default(entry, left) -> None:
    schemas = asked(talk(ask=object_of(top_k={"type": "integer", "default": 40})), top_k=entry)
    top_k = schemas["Ask"]["properties"]["top_k"]
    assert {key: value for key, value in top_k.items() if key == "default"} == left


def test_a_default_where_there_was_none() -> None:
    schemas = asked(talk(ask=object_of(model=ref("Name")), Name=TEXT), model={"level": "full", "default": "base"})
    assert schemas["Ask"]["properties"]["model"] == ref("Name") | {"default": "base", "x-origin": "openai"}


def test_the_defaults_of_a_property_that_is_several_fields() -> None:
    document = talk(ask=object_of(a=ref("Part"), b=ref("Part")), Part=object_of(n={"type": "integer", "default": 1}))
    one, other = {"level": "full", "default": 2}, {"level": "full", "default": 3}
    schemas = asked(document, **{"a": "full", "b": "full", "a.n": one, "b.n": other})
    components = {name: schemas["Ask"]["properties"][name]["$ref"].rsplit("/", 1)[-1] for name in ("a", "b")}
    assert [schemas[components[name]]["properties"]["n"]["default"] for name in ("a", "b")] == [2, 3]


@pytest.mark.parametrize(
    ("ours", "required", "expected"), [([], True, ["model"]), (["model"], False, None), (["model"], None, ["model"])]
)
def test_what_must_be_there(ours, required, expected) -> None:
    entry = {"level": "full"} if required is None else {"level": "full", "required": required}
    schemas = asked(talk(ask=object_of(model=TEXT) | {"required": ours}), model=entry)
    assert schemas["Ask"].get("required") == expected


def test_what_must_be_there_in_some_kinds_of_object() -> None:
    user, tool = kind("user", text=TEXT) | {"required": ["type"]}, kind("tool", text=TEXT)
    document = talk(ask=object_of(turn={"anyOf": [ref("User"), ref("Tool")]}), User=user, Tool=tool)
    rows = {"level": "full", "required": ["user"]}
    schemas = asked(document, **{"turn": "full", "turn.type": "full", "turn.text": rows})
    assert (schemas["User"]["required"], schemas["Tool"]["required"]) == (["type", "text"], ["type"])


@pytest.mark.parametrize(("kinds", "expected"), [(["a", "b"], ["text"]), (["a"], None)])
def test_a_kind_of_several_values_is_named_by_all(kinds, expected) -> None:
    both = {"type": "object", "properties": {"type": {"enum": ["a", "b"]}, "text": TEXT}}
    entry = {"level": "full", "required": kinds}
    schemas = asked(
        talk(ask=object_of(turn=ref("Both")), Both=both), **{"turn": "full", "turn.type": "full", "turn.text": entry}
    )
    assert schemas["Both"].get("required") == expected


def test_what_must_be_there_of_one_field_and_not_of_another() -> None:
    document = talk(ask=object_of(a=ref("Part"), b=ref("Part")), Part=object_of(n=TEXT) | {"required": ["n"]})
    rows = {"a": "full", "b": "full", "a.n": {"level": "full", "required": False}, "b.n": "full"}
    assert "required" not in asked(document, **rows)["Part"], "one schema can't say both"


@pytest.mark.parametrize(
    ("ours", "entry", "always"),
    [
        (["id"], "full", True),
        (["id"], {"level": "full", "required": False}, False),
        (["id"], {"level": "partial", "note": "Odd."}, False),
        (["id"], {"level": "partial", "note": "Odd.", "schema": TEXT}, True),
        ([], "full", False),
        ([], {"level": "partial", "note": "Odd.", "required": True}, True),
    ],
)
def test_what_answers_always_have(ours, entry, always) -> None:
    document = talk(answer=object_of(id=TEXT) | {"required": ours})
    answer = project(document, dialect(request={}, response={"id": entry}))["components"]["schemas"]["Answer"]
    assert answer.get("required", []) == (["id"] if always else [])


def test_an_example_without_what_must_be_there_is_gone() -> None:
    document = talk(ask=object_of(model=TEXT, n=TEXT) | {"examples": [{"n": "1"}, {"model": "m"}]})
    schemas = asked(document, model={"level": "full", "required": True}, n="full")
    assert schemas["Ask"]["examples"] == [{"model": "m"}]
