"""Schemas of classes as a file, and the page on versions."""

from datetime import date

import pytest
from versions.__main__ import Newest, changes, page

from specvino.upstream import description
from specvino.upstream.described import Described

STRING = {"type": "string"}


def described(**fields):
    """A request whose parts lead to two classes of the same name, and an unused class."""
    taken = {
        "tiny.chat.Request": {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/taken/tiny.chat.Part"}, **fields},
        },
        "tiny.chat.Part": {"type": "object", "properties": {"b": {"$ref": "#/$defs/taken/tiny.other.Part"}}},
        "tiny.other.Part": {"type": "object", "properties": {"c": STRING}},
        "tiny.other.Unused": STRING,
    }
    return Described(
        {"$defs": {"taken": taken}}, {("chat", "request"): {"$ref": "#/$defs/taken/tiny.chat.Request"}}, ("x.Y",)
    )


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(description, "FOLDER", tmp_path)
    (tmp_path / "tiny.json").write_text(description.text("tiny 1.0", described()))
    return tmp_path / "tiny.json"


def test_classes_have_the_shortest_names(written) -> None:
    source, found = description.read("tiny")
    assert source == "tiny 1.0"
    assert found.unread == ("x.Y",)
    assert found.parts == {("chat", "request"): {"$ref": "#/$defs/taken.Request"}}
    assert found.document["$defs"].keys() == {"taken.Request", "taken.chat.Part", "taken.other.Part"}
    assert found.document["$defs"]["taken.chat.Part"]["properties"] == {"b": {"$ref": "#/$defs/taken.other.Part"}}


def test_a_class_is_a_line(written) -> None:
    assert [line for line in written.read_text().splitlines() if '"c"' in line] == [
        '"taken.other.Part": {"type": "object", "properties": {"c": {"type": "string"}}}'
    ]


def test_what_a_new_version_brings(written) -> None:
    _, old = description.read("tiny")
    assert changes(old, described()) == []
    (change,) = changes(old, described(d=STRING))
    assert (change.field, change.only, change.what) == ("chat.d", "system", "field")
    text = page({"openai": Newest("openai 9.8", "9.9", (change,))}, date(2026, 11, 28))
    assert "| openai | " in text
    assert "| openai 9.8 | 9.9 | 1 |" in text
    assert "| chat.d | has the field |  |  |" in text
    assert "not on the package index" in text
