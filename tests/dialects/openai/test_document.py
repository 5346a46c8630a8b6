"""The document of OpenAI says of each field what OpenAI's own document says, but for what allowed.yaml allows."""

import json
from importlib.resources import files

import pytest
from dialects.openai.differences import Allowed, Difference, allowed, differences, left
from dialects.openai.facts import Fact
from dialects.openai.openai_document import parts_of_ours
from dialects.openai.table import by_field, read


@pytest.fixture(scope="module")
def found() -> list[Difference]:
    document = json.loads((files("specvino.generated") / "dialects" / "openai.json").read_text("utf-8"))
    return list(differences(read(), by_field(document, parts_of_ours(document))))


def test_nothing_else_differs(found: list[Difference]) -> None:
    assert left(found, allowed()) == []


def test_all_that_is_allowed_is_so(found: list[Difference]) -> None:
    assert [entry for entry in allowed() if not any(entry.fits(difference) for difference in found)] == []


TEXT = Fact(types=("string",))


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ({"chat.n": TEXT}, {"chat.n": TEXT}, []),
        ({"chat.n": TEXT}, {}, [Difference("chat.n", "missing here")]),
        ({}, {"chat.n": TEXT, "chat.n.a": TEXT, "chat.n[](b).c": TEXT}, [Difference("chat.n", "missing there")]),
        ({"chat.n": TEXT}, {"chat.n": Fact(("null",))}, [Difference("chat.n", "types", ("string",), ("null",))]),
        ({"chat.n": TEXT}, {"chat.n": Fact(("string",), True)}, [Difference("chat.n", "required", False, True)]),
        ({"chat.n": TEXT}, {"chat.n": Fact(("string",), default=1)}, [Difference("chat.n", "default", None, 1)]),
        ({"chat.response.n": TEXT}, {"chat.response.n": Fact(("string",), default=1)}, []),
    ],
)
def test_differences(theirs, ours, expected) -> None:
    assert list(differences(theirs, ours)) == expected


def test_what_an_entry_allows() -> None:
    entry = Allowed(("types",), "chat.*.a[](b)", "It is so.")
    assert entry.fits(Difference("chat.messages.a[](b)", "types"))
    assert not entry.fits(Difference("chat.messages.a[](b)", "required"))
    assert not entry.fits(Difference("chat.messages.a[](c)", "types"))
    assert left([Difference("chat.x.a[](b)", "types"), Difference("chat.y", "types")], [entry]) == [
        Difference("chat.y", "types")
    ]
