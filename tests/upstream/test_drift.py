"""Both sides are brought together."""

import json

import pytest
from support.drifting import TABLE, TEXT, document, sources

from specvino.upstream import packages
from specvino.upstream import table as tables
from specvino.upstream.allow_list import Allowed
from specvino.upstream.described import Unreadable
from specvino.upstream.description import fields_of
from specvino.upstream.differences import Only, What
from specvino.upstream.drift import drift, system_of


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "files", lambda _: tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "tiny.yaml").write_text(TABLE)
    return sources(tmp_path)


def drifted(source, ours, entries=(), only=()):
    return drift("tiny", ours, ours, system_of("tiny", ours, None, source), entries, only)


def wrong():
    changed = document()
    changed["components"]["schemas"]["Request"]["properties"]["seed"] = {"type": "integer", "minimum": 5}
    return changed


def test_no_difference(source) -> None:
    found = drifted(source, document())
    assert found.is_clean
    assert found.parts == (("chat", "request"), ("chat", "response"), ("chat", "stream"))
    assert found.left == (("error", "response"),)


def test_a_difference(source) -> None:
    found = drifted(source, wrong())
    assert [(each.field, each.values) for each in found.differences] == [("chat.seed", ("null",))]
    assert not found.is_clean


def test_a_known_difference(source) -> None:
    found = drifted(source, wrong(), [Allowed("chat.seed", "So it is.")])
    assert (found.differences, found.allowed, found.is_clean) == ((), 1, True)


def test_an_entry_that_allows_nothing_any_more(source) -> None:
    entry = Allowed("chat.seed", "So it was.")
    found = drifted(source, document(), [entry])
    assert found.unused == (entry,)
    assert not found.is_clean


def test_a_part_alone(source) -> None:
    entry = Allowed("chat.seed", "Not looked at.")
    found = drifted(source, wrong(), [entry], ["chat.response"])
    assert found.is_clean
    assert found.parts == (("chat", "response"),)
    assert len(drifted(source, wrong(), [], ["chat"]).differences) == 1


@pytest.mark.parametrize("only", [["nothing"], ["chat", "chat.nothing"]])
def test_a_part_that_is_not_there(source, only) -> None:
    with pytest.raises(Unreadable, match=r"nothing; there are chat\.request, chat\.response, chat\.stream$"):
        drifted(source, document(), [], only)


def test_an_openapi_document(tmp_path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document()))
    assert drifted(file, document()).is_clean


@pytest.mark.parametrize(
    ("table", "said", "wanted"),
    [(TABLE, None, "1.0"), (TABLE, "3.0", "3.0"), (TABLE.replace('version: "1.0"', ""), None, "2.0")],
)
def test_the_version(source, monkeypatch, table, said, wanted) -> None:
    asked = []

    def from_index(*arguments):
        asked.append(arguments[:3])
        return source / "tiny"

    monkeypatch.setattr(packages, "from_index", from_index)
    (source / "tables" / "tiny.yaml").write_text(table)
    name, _ = system_of("tiny", document(), said, None)
    assert name == f"tiny {wanted}"
    assert asked == [("tiny", wanted, "tiny")]


def test_no_version_and_no_package(source) -> None:
    no_version = TABLE.replace('version: "1.0"', "")
    (source / "tables" / "tiny.yaml").write_text(no_version)
    with pytest.raises(Unreadable, match="--package-version"):
        system_of("tiny", {}, None, None)
    (source / "tables" / "tiny.yaml").write_text(f"{no_version}\ndistribution: null")
    with pytest.raises(Unreadable, match="--source"):
        system_of("tiny", {}, None, None)


def marked(level):
    """A document with a field that the class of chat.response lacks."""
    ours = document()
    for name in ("Answer", "Chunk"):
        ours["components"]["schemas"][name]["properties"]["text"] = {
            **TEXT, "x-support": {"chat.response.size": {"tiny": level}}
        }  # fmt: skip
    return ours


@pytest.mark.parametrize("level", ["full", {"level": "partial", "note": "x"}])
def test_a_supported_field_that_the_system_lacks(source, level) -> None:
    (found,) = drifted(source, marked(level)).differences
    assert (found.field, found.what, found.only) == ("chat.response.size", What.FIELD, Only.DOCUMENT)
    assert drifted(source, marked(level), only=["chat.request"]).is_clean
    assert drifted(source, marked(level), [Allowed("chat.response.size", "So it is.")]).is_clean


@pytest.mark.parametrize("level", ["absent", "unknown"])
def test_a_field_that_is_said_to_be_lacking(source, level) -> None:
    assert drifted(source, marked(level)).is_clean


def test_an_object_of_a_class_inside_the_answer(source) -> None:
    table = TABLE + 'listed: {error.response: {class: "tiny/protocol.py:Answer", reading: written, inside: error}}'
    (source / "tables" / "tiny.yaml").write_text(table)
    fields = fields_of(system_of("tiny", document(), None, source)[1])
    has = [fields.has("error", "response", path) for path in ("error", "error.id", "id")]
    assert has == [True, True, False]


def test_what_a_listed_class_of_requests_rejects(source) -> None:
    listed = TABLE.replace("  chat.request: tiny/protocol.py:Request\n", "").partition("checks:")[0]
    (source / "tables" / "tiny.yaml").write_text(listed + "listed: {chat.request: tiny/protocol.py:Request}")
    assert drifted(source, document()).is_clean
    ours = document()
    properties = ours["components"]["schemas"]["Request"]["properties"]
    properties |= {"seed": {"const": 5}, "stream": {"type": ["boolean", "null"]}}
    found = drifted(source, ours).differences
    assert [(each.field, each.only, each.values) for each in found] == [("chat.stream", Only.DOCUMENT, ("null",))]
    assert drifted(source, ours, only=["chat.response"]).is_clean
