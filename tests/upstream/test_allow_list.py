"""The allow-list takes away what is known, and nothing else."""

import pytest

from specvino.document.loading import systems
from specvino.upstream.allow_list import Allowed, read, sift
from specvino.upstream.described import Unreadable
from specvino.upstream.differences import Difference, Only, What

NULL = Difference("chat.seed", What.VALUES, Only.SYSTEM, ("null", "-1"))
ABSENT = Difference("chat.messages[].content", What.ABSENCE, Only.DOCUMENT)


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        (Allowed("chat.seed", "known"), [ABSENT]),
        (Allowed("chat.*", "known"), []),
        (Allowed("chat.messages[].*", "known"), [NULL]),
        (Allowed("*", "known", only=Only.SYSTEM), [ABSENT]),
        (Allowed("*", "known", what=What.ABSENCE), [NULL]),
        (Allowed("chat.seed", "known", values=("null", "-1")), [ABSENT]),
        (
            Allowed("chat.seed", "known", values=("null",)),
            [Difference("chat.seed", What.VALUES, Only.SYSTEM, ("-1",)), ABSENT],
        ),
    ],
)
def test_an_entry(entry, left) -> None:
    assert sift([NULL, ABSENT], [entry]) == (left, [])


@pytest.mark.parametrize(
    "entry",
    [
        Allowed("chat.see", "known"),
        Allowed("chat.seed.*", "known"),
        Allowed("chat.seed", "known", only=Only.DOCUMENT),
        Allowed("chat.seed", "known", values=("0",)),
    ],
)
def test_an_entry_that_allows_nothing(entry) -> None:
    assert sift([NULL], [entry]) == ([NULL], [entry])


@pytest.mark.parametrize("system", [*systems(), "openai.openapi"])
def test_the_lists_of_the_systems_are_right(system) -> None:
    assert all(entry.reason.endswith(".") for entry in read(system))


def test_a_file(tmp_path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text('[{field: chat.n, only: document, what: unknown fields, values: ["1"], reason: It is so.}]')
    assert read("vllm", file) == [Allowed("chat.n", "It is so.", Only.DOCUMENT, What.UNKNOWN_FIELDS, ("1",))]
    assert str(read("vllm", file)[0]) == "chat.n, only document, unknown fields, 1"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{field: chat.n}", "it isn't a list"),
        ("[chat.n]", "an entry has"),
        ("[{field: chat.n}]", "an entry needs a field and a reason"),
        ("[{field: chat.n, reason: ' '}]", "an entry needs a field and a reason"),
        ("[{field: chat.n, reason: So., side: system}]", "an entry has"),
        ("[{field: chat.n, reason: So., only: both}]", "'both' is not a valid Only"),
        ("[", "can't be read"),
    ],
)
def test_a_file_that_is_not_right(tmp_path, text, why) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(text)
    with pytest.raises(Unreadable, match=why):
        read("vllm", file)


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(Unreadable, match=r"known\.yaml can't be read"):
        read("vllm", tmp_path / "known.yaml")
    assert read("nobody") == []


def test_a_field_that_the_system_lacks_needs_its_name_or_its_kind() -> None:
    lacking = Difference("chat.seed", What.FIELD, Only.DOCUMENT)
    assert sift([lacking], [Allowed("chat.*", "known", Only.DOCUMENT)])[0] == [lacking]
    for entry in (Allowed("chat.seed", "known"), Allowed("chat.*", "known", Only.DOCUMENT, What.FIELD)):
        assert sift([lacking], [entry]) == ([], [])
    of_one_kind = Difference("chat.seed", What.FIELD, Only.DOCUMENT, (), ("type: text",))
    assert sift([of_one_kind], [Allowed("chat.*", "known", Only.DOCUMENT)]) == ([], [])
