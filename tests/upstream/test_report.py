"""What was found is shown: the count first, then what to review."""

import io
import json

import pytest
from rich.console import Console

from specvino.upstream.allow_list import Allowed
from specvino.upstream.differences import Difference, Only, What
from specvino.upstream.drift import Drift
from specvino.upstream.report import as_json, as_markdown, show, values_text

SEED = Difference("chat.seed", What.VALUES, Only.SYSTEM, ("null", '"a|b"'))
ABSENT = Difference("chat.seed", What.ABSENCE, Only.DOCUMENT)
MANY = Difference("chat.messages[].x", What.VALUES, Only.DOCUMENT, tuple("123456789"), ("role: user",))


def found(*differences, **more):
    given = {
        "system": "tiny",
        "source": "tiny 1.0",
        "parts": (("chat", "request"),),
        "differences": differences,
        "allowed": 0,
        "unused": (),
        "open": {Only.SYSTEM: (), Only.DOCUMENT: ()},
        "unread": (),
        "left": (),
    }
    return Drift(**{**given, **more})


def test_markdown() -> None:
    lines = as_markdown(found(SEED, ABSENT, MANY, allowed=2)).splitlines()
    assert lines == [
        "# Drift: tiny: 3 differences to review, in addition to 2 known. tiny 1.0 against chat.request.",
        "",
        "| field | the system alone | the document alone | of objects with |",
        "| --- | --- | --- | --- |",
        '| chat.seed | null, "a\\|b" | may be left out |  |',
        "| chat.messages[].x |  | 1, 2, 3, 4, 5 more | role: user |",
    ]


def test_nothing_found() -> None:
    assert as_markdown(found()) == "# Drift: tiny: no differences to review. tiny 1.0 against chat.request.\n"


def test_remarks() -> None:
    text = as_markdown(
        found(
            unused=(Allowed("chat.x", "So.", Only.SYSTEM),),
            left=(("version", "response"),),
            listed=(("messages", "request"),),
            unread=("PIL.Image",),
            open={Only.SYSTEM: ("chat.a", "chat.b"), Only.DOCUMENT: ()},
        )
    )
    assert text.splitlines()[2:] == [
        "- This entry of the allow-list no longer allows anything: chat.x, only system.",
        "- Not compared, because only one side describes it: version.response.",
        "- Compared by names only, and requests by what the document alone accepts: messages.request.",
        "- Not read, and treated as unrestricted: PIL.Image.",
        "- Left open by the system: chat.a, chat.b.",
    ]


def test_json_has_everything() -> None:
    said = json.loads(as_json(found(MANY, ABSENT)))
    assert said["count"] == 2
    assert said["differences"] == [
        {
            "field": "chat.messages[].x",
            "what": "values",
            "only": "document",
            "values": list("123456789"),
            "kinds": ["role: user"],
        },
        {"field": "chat.seed", "what": "absence", "only": "document"},
    ]
    assert said["left_open"] == {"system": [], "document": []}


def test_the_table() -> None:
    shown = io.StringIO()
    show(found(SEED, MANY, unread=("x[red]",)), Console(file=shown, width=120))
    lines = shown.getvalue().splitlines()
    assert lines[0].startswith("tiny: 2 differences to review.")
    assert lines[2].split() == ["chat.seed", "null,", '"a|b"']
    assert "role: user" in lines[3]
    assert lines[-1] == "Not read, and treated as unrestricted: x[red]."


@pytest.mark.parametrize(
    ("what", "values", "words"),
    [
        (What.VALUES, ("1", "2"), "1, 2"),
        (What.ABSENCE, (), "may be left out"),
        (What.DEFAULT, ("16",), "default 16"),
        (What.FIELD, (), "has the field"),
        (What.UNKNOWN_FIELDS, (), "unknown fields"),
    ],
)
def test_words(what, values, words) -> None:
    assert values_text(Difference("chat.x", what, Only.SYSTEM, values)) == words
