"""What the description of a system tells about fields."""

from typing import Any

import pytest

from specvino.document.system_fields import Lines, SystemFields, system_name

TEXT = {"type": "string"}
DESCRIPTION: dict[str, Any] = {
    "is_partial": False,
    "unread": ["chat.request: voice", "far.Class"],
    "parts": {"chat.request": {"$ref": "#/$defs/Request"}},
    "listed": {"chat.response": {"$ref": "#/$defs/Answer"}},
    "$defs": {
        "Request": {
            "type": "object",
            "properties": {
                "model": TEXT,
                "stop": {"anyOf": [TEXT, {"type": "array", "items": {"$ref": "#/$defs/Stop"}}]},
                "choice": {"anyOf": [{"const": "auto"}, {"$ref": "#/$defs/Stop"}]},
                "extra": {"type": "object"},
                "seed": {"allOf": [{"$ref": "#/$defs/Stop"}, {"not": {"const": 1}}]},
                "user": {"allOf": [{"x-unread": "far.Base"}, {"$ref": "#/$defs/Stop"}]},
                "size": {"anyOf": [{"$ref": "#/$defs/Stop"}], "x-unread": "far.Size"},
                "tool": {"x-unread": "far.Base", "type": "object", "properties": {"name": TEXT}},
            },
        },
        "Stop": {"type": "object", "properties": {"text": TEXT, "stop": {"$ref": "#/$defs/Stop"}}},
        "Answer": {"type": "object", "properties": {"id": TEXT}},
    },
    "places": {
        "Request": {
            "base.py": {"extra": "1 ffffffff", "log()": "5-6 aaaaaaaa", "dump()": "7 bbbbbbbb", "copy()": "8 cccccccc"},
            "a.py": {"model": "1 aaaaaaaa", "stop": "2 bbbbbbbb", "check()": "9-12 cccccccc"},
        },
        "Stop": {"b.py": {"text": "3 dddddddd", "read()": "4 eeeeeeee"}},
    },
    "files": {"chat.stream": ["c.cpp"]},
    "quoted": {"c.cpp": {"id": "7,9 ffffffff"}},
}
FIELDS = SystemFields(DESCRIPTION)


@pytest.mark.parametrize(
    ("part", "path", "lines"),
    [
        ("request", "model", Lines("a.py", "1", True)),
        ("request", "stop[].text", Lines("b.py", "3", True)),
        ("request", "gone", Lines("a.py", "1-2", False)),  # neither the methods nor the base class
        ("request", "stop[].gone", Lines("b.py", "3", False)),
        ("request", "choice.gone", Lines("b.py", "3", False)),  # the object, though a text precedes it
        ("request", "model.gone", Lines("a.py", "1-2", False)),  # no object is nearer
        ("stream", "id", Lines("c.cpp", "7", True)),
        ("stream", "gone", Lines("c.cpp", "", False)),
        ("response", "id", None),
        ("other", "id", None),
    ],
)
def test_lines(part: str, path: str, lines: Lines | None) -> None:
    assert FIELDS.lines("chat", part, path) == lines


@pytest.mark.parametrize(
    ("part", "path", "has"),
    [
        ("request", "model", True),
        ("request", "n", False),
        ("request", "voice", None),  # read in a form that isn't known
        ("request", "model.name", False),
        ("request", "stop[].text", True),
        ("request", "stop[].stop.stop.text", True),
        ("request", "stop[].kind", False),
        ("request", "extra.anything", None),
        ("request", "seed.text", True),
        ("request", "seed.kind", False),
        ("request", "user.text", True),
        ("request", "user.kind", None),  # of a class that couldn't be read
        ("request", "tool.kind", None),
        ("request", "size.text", True),
        ("request", "size.kind", None),
        ("response", "id", True),
        ("response", "object", False),
        ("stream", "choices[].id", None),  # the name occurs in the file
        ("stream", "choices[].index", False),
        ("stream", "choices[].logit_bias.*", None),  # no name that a file could have
        ("nothing", "id", None),
    ],
)
def test_has(part: str, path: str, has: bool | None) -> None:
    assert FIELDS.has("chat", part, path) is has


def test_a_partial_description_does_not_tell_what_is_lacking() -> None:
    fields = SystemFields({**DESCRIPTION, "is_partial": True})
    assert fields.has("chat", "request", "n") is None
    assert fields.has("chat", "request", "model") is True


@pytest.mark.parametrize(
    ("part", "path", "places"),
    [
        (
            "request",
            "",
            {
                "a.py:9-12 cccccccc check()",
                "base.py:5-6 aaaaaaaa log()",
                "base.py:7 bbbbbbbb dump()",
                "base.py:8 cccccccc copy()",
            },
        ),
        ("request", "model", {"a.py:1 aaaaaaaa"}),
        ("request", "stop", {"a.py:2 bbbbbbbb"}),
        ("request", "seed", {"b.py:4 eeeeeeee read()"}),
        ("request", "stop[].text", {"b.py:3 dddddddd"}),
        ("stream", "choices[].id", {"c.cpp:7,9 ffffffff"}),
        ("stream", "choices[].index", set()),
    ],
)
def test_places(part: str, path: str, places: set[str]) -> None:
    assert FIELDS.places("chat", part, path) == places


def test_the_system_of_a_version() -> None:
    assert [system_name(name) for name in ("vllm", "vllm@0.29")] == ["vllm", "vllm"]
