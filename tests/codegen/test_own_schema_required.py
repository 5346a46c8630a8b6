"""What a system asks of a request, and what its answers always have."""

import pytest
from support.tiny_document import dialect, kind, ref, talk, thing

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
    schemas = asked(talk(ask=thing(top_k={"type": "integer", "default": 40})), top_k=entry)
    top_k = schemas["Ask"]["properties"]["top_k"]
    assert {key: value for key, value in top_k.items() if key == "default"} == left


def test_a_default_where_there_was_none() -> None:
    schemas = asked(talk(ask=thing(model=ref("Name")), Name=TEXT), model={"level": "full", "default": "base"})
    assert schemas["Ask"]["properties"]["model"] == ref("Name") | {"default": "base", "x-origin": "openai"}


def test_the_defaults_of_a_property_that_is_several_fields() -> None:
    document = talk(ask=thing(a=ref("Part"), b=ref("Part")), Part=thing(n={"type": "integer", "default": 1}))
    one, other = {"level": "full", "default": 2}, {"level": "full", "default": 3}
    schemas = asked(document, **{"a": "full", "b": "full", "a.n": one, "b.n": other})
    found = {name: schemas["Ask"]["properties"][name]["$ref"].rsplit("/", 1)[-1] for name in ("a", "b")}
    assert [schemas[found[name]]["properties"]["n"]["default"] for name in ("a", "b")] == [2, 3]


@pytest.mark.parametrize(
    ("ours", "said", "found"), [([], True, ["model"]), (["model"], False, None), (["model"], None, ["model"])]
)
def test_what_must_be_there(ours, said, found) -> None:
    entry = {"level": "full"} if said is None else {"level": "full", "required": said}
    schemas = asked(talk(ask=thing(model=TEXT) | {"required": ours}), model=entry)
    assert schemas["Ask"].get("required") == found


def test_what_must_be_there_in_some_kinds_of_object() -> None:
    user, tool = kind("user", text=TEXT) | {"required": ["type"]}, kind("tool", text=TEXT)
    document = talk(ask=thing(turn={"anyOf": [ref("User"), ref("Tool")]}), User=user, Tool=tool)
    said = {"level": "full", "required": ["user"]}
    schemas = asked(document, **{"turn": "full", "turn.type": "full", "turn.text": said})
    assert (schemas["User"]["required"], schemas["Tool"]["required"]) == (["type", "text"], ["type"])


@pytest.mark.parametrize(("said", "found"), [(["a", "b"], ["text"]), (["a"], None)])
def test_a_kind_of_several_values_is_named_by_all(said, found) -> None:
    both = {"type": "object", "properties": {"type": {"enum": ["a", "b"]}, "text": TEXT}}
    entry = {"level": "full", "required": said}
    schemas = asked(
        talk(ask=thing(turn=ref("Both")), Both=both), **{"turn": "full", "turn.type": "full", "turn.text": entry}
    )
    assert schemas["Both"].get("required") == found


def test_what_must_be_there_of_one_field_and_not_of_another() -> None:
    document = talk(ask=thing(a=ref("Part"), b=ref("Part")), Part=thing(n=TEXT) | {"required": ["n"]})
    said = {"a": "full", "b": "full", "a.n": {"level": "full", "required": False}, "b.n": "full"}
    assert "required" not in asked(document, **said)["Part"], "one schema can't say both"


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
    document = talk(answer=thing(id=TEXT) | {"required": ours})
    answer = project(document, dialect(request={}, response={"id": entry}))["components"]["schemas"]["Answer"]
    assert answer.get("required", []) == (["id"] if always else [])


def test_an_example_without_what_must_be_there_is_gone() -> None:
    document = talk(ask=thing(model=TEXT, n=TEXT) | {"examples": [{"n": "1"}, {"model": "m"}]})
    schemas = asked(document, model={"level": "full", "required": True}, n="full")
    assert schemas["Ask"]["examples"] == [{"model": "m"}]
