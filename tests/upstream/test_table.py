"""The table of each system, or the reason why its classes can't be read."""

import re

import pytest

from specvino.document.loading import systems
from specvino.upstream import description
from specvino.upstream import table as tables
from specvino.upstream.classes import Reading
from specvino.upstream.compare import Comparison
from specvino.upstream.described import Described, Unreadable
from specvino.upstream.description import FOLDER
from specvino.upstream.table import Class, FieldTable, Function, FunctionTable, Table, of_fields, of_sources, table


def test_each_system_has_one() -> None:
    assert {path.stem for path in (FOLDER.parent / "tables").glob("*.yaml")} >= {*systems()}


@pytest.mark.parametrize("system", description.systems())
def test_the_files_and_classes_of_a_table(system) -> None:
    found = table(system)
    if not isinstance(found, Table):
        assert all(part == "request" for _, part in found.parts)
        return
    assert all(re.fullmatch(rf"{found.package}/[\w/]+\.py", place.file) for place, _ in found.classes.values())
    assert all(place.name.isidentifier() for place, _ in found.classes.values())
    assert all(reading is Reading.TAKEN for (_, part), (_, reading) in found.classes.items() if part == "request")


def test_what_a_table_says() -> None:
    found = table("vllm")
    assert isinstance(found, Table)
    assert (found.package, found.distribution, found.version, found.beside) == (
        "vllm",
        "vllm",
        None,
        {"openai": "3.54.0", "openai_harmony": "0.0.8"},
    )
    assert found.classes["chat", "stream"][1] is Reading.WRITTEN_WHERE_SET
    (method,) = found.methods
    assert (method.owner, method.name) == (Class("vllm/sampling_params.py", "SamplingParams"), "_verify_args")
    assert method.parts["completions", "request"] == {}
    assert method.parts["responses", "request"] == {"logprobs": ["top_logprobs"], "max_tokens": ["max_output_tokens"]}


def test_a_system_that_can_not_be_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "files", lambda _: tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "tiny.yaml").write_text("unreadable: It is written in Rust.")
    with pytest.raises(Unreadable, match=r"^It is written in Rust\.$"):
        table("tiny")


def test_a_system_without_a_table() -> None:
    with pytest.raises(Unreadable, match=r"there is no upstream/tables/nobody\.yaml$"):
        table("nobody")


def test_a_field_that_a_table_in_another_language_lacks_is_no_difference(tmp_path) -> None:
    (tmp_path / "fields.cpp").write_text('add((new field_num("size", size)) ->set_hard_limits(0, 9));')
    part = ("talk", "request")
    theirs = of_fields(FieldTable("fields.cpp", (part,), {}), tmp_path)
    size = {"type": ["number", "boolean", "null"], "minimum": 0, "maximum": 9}
    ours = Described({}, {part: {"type": "object", "properties": {"size": size, "other": {}}}})
    assert Comparison(ours, theirs, {}).of(part) == []
    ours = Described({}, {part: {"type": "object", "properties": {"size": {**size, "maximum": 8}}}})
    assert [(found.field, found.values) for found in Comparison(ours, theirs, {}).of(part)] == [("talk.size", ("9",))]
    with pytest.raises(Unreadable, match="can't be read"):
        of_fields(FieldTable("other.cpp", (part,), {}), tmp_path)


def test_functions_that_read_the_requests_of_parts(tmp_path) -> None:
    (tmp_path / "read.cpp").write_text(
        """void parse() {
            auto it = doc.FindMember("size");
            if (it != doc.MemberEnd() && !it->value.IsUint()) return absl::InvalidArgumentError("size");
            if (endpoint == Endpoint::TALK) { it = doc.FindMember("word"); }
        }"""
    )
    functions: tuple[Function, ...] = (Function("read.cpp", "parse", {"doc": ""}),)
    parts = {("talk", "request"): functions, ("write", "request"): functions}
    theirs = of_sources(FunctionTable(parts, {("talk", "request"): "TALK"}, {}, {}), tmp_path)
    assert [list(schema["properties"]) for schema in theirs.parts.values()] == [["size", "word"], ["size"]]
    size = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
    ours = Described({}, {("write", "request"): {"type": "object", "properties": {"size": size, "other": {}}}})
    found = Comparison(ours, theirs, {}).of(("write", "request"))
    assert [(difference.field, str(difference.what)) for difference in found] == [("write.other", "field")]
    with pytest.raises(Unreadable, match="can't be read"):
        of_sources(FunctionTable({("talk", "request"): (Function("other.cpp", "parse", {}),)}, {}, {}, {}), tmp_path)
