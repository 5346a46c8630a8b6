"""Rows of dialect files are completed: levels, lists, rows of other endpoints, and what a system's sources lack."""

from typing import Any

import pytest

from specvino.codegen.fields import Field
from specvino.codegen.rows import complete, of_version
from specvino.codegen.source import SpecError
from specvino.document.system_fields import SystemFields

TEXT = {"type": "string"}


def field(endpoint: str, path: str, part: str = "request", origin: str = "openai") -> Field:
    owner: dict[str, Any] = {"type": ["string", "null"], "x-origin": origin}
    return Field(endpoint, part, path, (owner,), ({"properties": {path.rpartition(".")[2]: owner}},))


FIELDS = [field("talk", name) for name in ("tools", "tools[].cost", "tools[].name", "toolset", "user")]
FIELDS += [field("note", name) for name in ("items", "items[].cost", "items[].name", "tools", "user", "pen")]
FIELDS += [field("talk", "usage", "response")]


def sources(**properties: Any) -> SystemFields:
    """Those of a system whose request of `talk` has these fields."""
    schema = {"type": "object", "properties": properties}
    no: dict[str, Any] = {}
    described = {"parts": {"talk.request": schema}, "listed": no, "is_partial": False, "$defs": no, "places": no}
    return SystemFields({**described, "files": no, "quoted": no, "unread": []})


def completed(fields: dict[str, Any], described: SystemFields | None = None, **more: Any) -> Any:
    dialect = {"unknown_fields": "ignored", "fields": fields, **more}
    complete(dialect, FIELDS, described)
    return dialect["fields"]


def test_a_row_without_a_level_is_full() -> None:
    rows = completed({"talk": {"request": {"user": {"note": "x"}, "tools": "refused"}}})["talk"]["request"]
    assert rows == {"user": {"level": "full", "note": "x"}, "tools": {"level": "refused"}}


def test_a_level_lists_fields() -> None:
    rows = completed({"talk": {"request": {"full": ["user"], "refused": ["tools"]}}})["talk"]["request"]
    assert rows == {"user": {"level": "full"}, "tools": {"level": "refused"}}


@pytest.mark.parametrize(
    "rows",
    [
        {"full": ["user"], "user": "full"},
        {"full": ["user", "user"]},
        {"full": ["user"], "ignored": ["user"]},
        {"user": "full", "same": [{"fields": ["user"]}]},
    ],
)
def test_a_field_has_one_row(rows) -> None:
    with pytest.raises(SpecError, match="have another row: user"):
        completed({"talk": {"request": rows}})


def test_what_the_sources_lack_is_derived() -> None:
    described = sources(tools={"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}})
    fields = {"talk": {"request": {"tools": "full"}, "response": {}}, "note": {"request": {}}}
    rows = completed(fields, described)
    assert rows["talk"]["request"] == {
        "tools": {"level": "full"},
        "tools[].cost": {"level": "ignored"},
        "toolset": {"level": "ignored"},
        "user": {"level": "ignored"},
    }
    assert rows["talk"]["response"] == {}  # nothing has read it
    fields = {"talk": {"request": {"tools": "full"}}}
    assert completed(fields, described, unknown_fields="refused")["talk"]["request"]["user"] == {"level": "refused"}


def test_a_row_counts_more_than_the_sources() -> None:
    described = sources(tools={"type": "array"})
    talk = {"tools": "refused", "toolset": "refused", "user": {"level": "partial", "note": "x"}}
    rows = completed({"talk": {"request": talk}}, described)["talk"]["request"]
    assert rows["tools"] == rows["toolset"] == {"level": "refused"}
    assert rows["user"] == {"level": "partial", "note": "x"}


@pytest.mark.parametrize("schema", [{"type": "array", "maxItems": 0}, {"type": "string"}])
def test_a_field_without_room_for_inner_ones_has_none(schema) -> None:
    rows = completed({"talk": {"request": {"tools": {"schema": schema}}}}, sources(tools={}))["talk"]["request"]
    assert rows["tools[].cost"] == rows["tools[].name"] == {"level": "refused"}


def test_a_row_counts_more_than_the_room_for_it() -> None:
    rows = completed({"talk": {"request": {"tools": {"schema": TEXT}, "tools[].name": "partial"}}})["talk"]["request"]
    assert (rows["tools[].cost"], rows["tools[].name"]) == ({"level": "refused"}, {"level": "partial"})


def test_a_field_of_kinds_that_the_row_of_their_type_excludes_is_none() -> None:
    fields = []
    for part in ("request", "response"):
        properties: dict[str, Any] = {"type": {"const": "file"}, "data": TEXT | {"x-origin": "openai"}}
        objects = ({"properties": properties},)
        fields += [Field("talk", part, f"items[].{name}", (schema,), objects) for name, schema in properties.items()]
    kinds = {"items[].type": {"schema": {"enum": ["text"]}}}
    dialect: dict[str, Any] = {"unknown_fields": "ignored", "fields": {"talk": {"request": kinds, "response": kinds}}}
    complete(dialect, fields, None)
    assert dialect["fields"]["talk"]["request"]["items[].data"] == {"level": "refused"}
    assert dialect["fields"]["talk"]["response"]["items[].data"] == {"level": "absent"}


def test_what_classes_declare_counts_for_rows_that_do_not_state_it() -> None:
    described = sources(user={"type": "string", "default": "x"}, toolset={"type": "string"}, tools={"type": "string"})

    def rows(**talk: Any) -> Any:
        found = completed({"talk": {"request": talk}}, described)["talk"]["request"]
        return {name: found[name] for name in ("user", "tools", "toolset") if name in found}

    declared = {"level": "full", "nullable": False}
    assert rows(declared=["toolset"], tools="full", user={"nullable": True, "note": "y"}) == {
        "toolset": declared,
        "tools": {"level": "full"},  # as our document has it
        "user": {"level": "full", "nullable": True, "default": "x", "note": "y"},
    }
    assert rows(toolset={}, user={"default": None}) == {"toolset": declared, "user": declared}
    assert rows(user={"declared": False, "note": "y"}) == {"user": {"level": "full", "note": "y"}}


def test_what_the_classes_of_another_endpoint_declare() -> None:
    described = sources(user={"type": "string"})
    note = {"like": "talk", "request": {"declared": ["user"]}}
    rows = completed({"talk": {"request": {"user": "full"}}, "note": note}, described)
    assert rows["note"]["request"]["user"] == {"level": "full", "nullable": False}


def test_fields_share_a_row() -> None:
    same = [{"fields": ["user", "tools"], "level": "partial", "note": "x"}]
    rows = completed({"talk": {"request": {"same": same, "toolset": "full"}}})["talk"]["request"]
    assert rows["user"] == rows["tools"] == {"level": "partial", "note": "x"}


def test_a_level_lists_endpoints() -> None:
    rows = completed({"absent": ["note"], "unknown": ["plan", "talk"], "draw": {"request": {}}})
    assert rows == {"note": "absent", "plan": "unknown", "talk": "unknown", "draw": {"request": {}}}


def test_rows_of_another_endpoint() -> None:
    talk = {"request": {"tools": {"note": "x"}, "tools[].name": "refused", "user": "refused"}}
    rows = completed({"talk": talk, "note": {"like": "talk", "request": {"user": "ignored"}}})
    assert rows["note"] == {"request": {"tools": {"level": "full", "note": "x"}, "user": {"level": "ignored"}}}


def test_what_is_like_another_field_has_its_inner_rows() -> None:
    talk = {"request": {"tools": "full", "tools[].cost": "refused", "tools[].name": "full", "toolset": "full"}}
    note = {"request": {"items": {"like": "talk.tools"}, "items[].cost": "ignored"}}
    assert completed({"talk": talk, "note": note, "other": "absent"})["note"]["request"] == {
        "items": {"level": "full"},
        "items[].cost": {"level": "ignored"},
        "items[].name": {"level": "full"},
    }


def test_an_older_version() -> None:
    newest = sources(tools={"type": "array"}, user=TEXT)
    dialect: dict[str, Any] = {
        "name": "Odd",
        "unknown_fields": "ignored",
        "fields": {"talk": {"request": {"tools": "full", "user": "full"}, "response": {"usage": "full"}}},
        "versions": {"0.1": {"name": "Old", "fields": {"talk": {"response": {"usage": {"note": "x"}}}}}},
    }
    older = of_version(dialect, "0.1")
    complete(older, FIELDS, sources(tools={"type": "array"}), newest)
    assert older["name"] == "Old"
    assert older["fields"]["talk"] == {
        "request": {"tools": {"level": "full"}, "toolset": {"level": "ignored"}, "user": {"level": "ignored"}},
        "response": {"usage": {"level": "full", "note": "x"}},
    }
    assert dialect["name"] == "Odd"
    assert dialect["fields"]["talk"]["request"] == {"tools": "full", "user": "full"}


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (
            {"talk": {"like": "note"}, "note": {"like": "talk"}},
            "note is like talk, which is like it",
        ),
        ({"talk": {"like": "tlak"}}, "talk is like tlak, which isn't an endpoint"),
        ({"talk": {"request": {"tools": None}}}, "the row of tools is None, but must be a level"),
        ({"talk": {"request": {"same": [{"level": "refused"}]}}}, "same is .*, but must be a list of rows"),
    ],
)
def test_a_mistake_in_a_row_is_named(fields, fault) -> None:
    with pytest.raises(SpecError, match=fault):
        completed(fields)


@pytest.mark.parametrize("rows", [{"talk": "absent"}, {"tlak": {"request": {}}}, {"talk": {"request": "full"}}])
def test_a_mistake_in_an_older_version_is_named(rows) -> None:
    fields = {"talk": {"request": {"tools": "full"}}}
    dialect = {"name": "Odd", "fields": fields, "versions": {"0.1": {"fields": rows}}}
    with pytest.raises(SpecError, match=r"versions\.0\.1\.fields\.(talk|tlak): only rows can differ"):
        of_version(dialect, "0.1")


def test_a_row_of_another_endpoint_is_not_the_version_s_own() -> None:
    fields = {"talk": {"request": {"tools": "full"}}, "note": {"request": {}, "like": "talk"}}
    older = {"fields": {"talk": {"request": {"tools": {"note": "x"}}}}}
    newest = {"name": "Odd", "unknown_fields": "ignored", "fields": fields, "versions": {"0.1": older}}
    dialect = of_version(newest, "0.1")
    assert dialect["name"] == "Odd 0.1"
    complete(dialect, FIELDS, None)
    assert dialect["fields"]["note"]["request"]["tools"] == {"level": "full", "note": "x"}
