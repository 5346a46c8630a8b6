"""The classes that a table names become the parts of a system."""

import pytest
import yaml
from support.drifting import TABLE, sources

from specvino.document.validator import Validator
from specvino.upstream import table as tables
from specvino.upstream.compare import Comparison
from specvino.upstream.described import Unreadable
from specvino.upstream.modules import Sources


@pytest.fixture
def described(tmp_path, monkeypatch):
    def read(text=TABLE):
        monkeypatch.setattr(tables, "files", lambda _: tmp_path)
        (tmp_path / "tables").mkdir(exist_ok=True)
        (tmp_path / "tables" / "tiny.yaml").write_text(text)
        entry = tables.table("tiny")
        assert isinstance(entry, tables.Table)
        return tables.of_classes(entry, Sources({"tiny": sources(tmp_path) / "tiny"}))

    return read


def test_parts(described) -> None:
    found = described()
    assert found.parts.keys() == {("chat", "request"), ("chat", "response"), ("chat", "stream")}
    assert Comparison(found, found, {}).of(("chat", "response")) == []
    written = found.document["$defs"]["written"]["tiny.protocol.Answer"]
    assert written["required"] == ["id", "text"]


def test_a_method_checks_a_field_under_its_name(described) -> None:
    judge = Validator(described().parts["chat", "request"]["properties"]["seed"])
    assert [value for value in (4, 5, None, -1) if judge.fits(value)] == [5, None]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"parts": {"chat.request": "tiny/protocol.py:Gone"}}, r"protocol\.py has no Gone"),
        ({"parts": {"chat.request": "tiny/gone.py:Request"}}, r"has no gone\.py"),
        ({"checks": [{"method": "tiny/protocol.py:Checked.gone", "parts": {}}]}, r"has no Checked\.gone"),
        ({"checks": [{"method": "tiny/protocol.py:Gone.verify", "parts": {}}]}, r"has no Gone\.verify"),
    ],
)
def test_what_has_moved(described, change, why) -> None:
    with pytest.raises(Unreadable, match=why):
        described(yaml.safe_dump(yaml.safe_load(TABLE) | {"checks": []} | change))
