"""The rows whose lines changed."""

from typing import Any

from specvino.document.system_fields import SystemFields
from specvino.upstream.changes import Change, changes

NAMES = ["chat.model", "chat.seed", "chat.tools", "chat.response.id"]


def fields(request: dict[str, str], answer: dict[str, str] | None = None) -> SystemFields:
    """Those whose classes have these names, with their lines; `x()` is a method of both classes."""
    places = {"taken.Request": request, "written.Answer": {"id": "9 99999999", **(answer or {})}}
    schemas: dict[str, Any] = {
        name: {"type": "object", "properties": {field: {"type": "string"} for field in found if "(" not in field}}
        for name, found in places.items()
    }
    return SystemFields(
        {
            "is_partial": False,
            "unread": [],
            "parts": {
                "chat.request": {"$ref": "#/$defs/taken.Request"},
                "chat.response": {"$ref": "#/$defs/written.Answer"},
            },
            "listed": {},
            "$defs": schemas,
            "places": {name: {"a.py": found} for name, found in places.items()},
            "files": {},
            "quoted": {},
        }
    )


BEFORE = {"model": "1 11111111", "seed": "2 22222222"}


def test_moved_lines_have_not_changed() -> None:
    assert changes(fields(BEFORE), fields({"model": "5 11111111", "seed": "6 22222222"}), NAMES) == []


def test_changed_new_and_gone() -> None:
    after = {"seed": "3-4 33333333", "tools": "7 77777777"}
    assert changes(fields(BEFORE), fields(after), NAMES) == [
        Change("chat.model", "gone", ("a.py:1",)),
        Change("chat.seed", "changed", ("a.py:3-4",)),
        Change("chat.tools", "new", ("a.py:7",)),
    ]


def test_a_method_is_reported_once() -> None:
    before = fields({**BEFORE, "check()": "8 88888888"}, {"check()": "8 88888888"})
    after = fields({**BEFORE, "check()": "8-9 aaaaaaaa"}, {"check()": "8-9 aaaaaaaa"})
    assert changes(before, after, NAMES) == [Change("chat.request", "check()", ("a.py:8-9",))]
