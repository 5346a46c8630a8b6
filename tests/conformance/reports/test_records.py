"""The lines of reports."""

import json
from importlib.resources import files

import jsonschema_rs
import pytest
from support.reports import HEADER, line, report

from specvino.conformance.reports import ndjson
from specvino.conformance.reports.records import RECORDS, summary, total, totals
from specvino.conformance.verdict import Verdict

SCHEMA = json.loads(files("specvino.conformance.reports").joinpath("line.schema.json").read_text("utf-8"))


def write(path, made):
    with ndjson.Writer(path) as writer:
        for record in (made.header, *made.lines, *([made.footer] if made.footer else [])):
            writer.write(record)


@pytest.fixture
def whole():
    return report(line("chat/a/b"), line("chat/a/c", "fail"), line("chat/a/d", "skip", because="no key"))


def test_the_schema_is_that_of_the_records() -> None:
    # To write it again: json.dumps of this, with indent=2
    schema = RECORDS.json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of a report"}
    assert head | schema == SCHEMA


def test_each_line_fits_the_schema(tmp_path, whole) -> None:
    write(tmp_path / "a.ndjson", whole)
    validator = jsonschema_rs.Draft202012Validator(SCHEMA, validate_formats=True)
    lines = [json.loads(line) for line in (tmp_path / "a.ndjson").read_text("utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["header", "result", "result", "result", "footer"]
    assert all(validator.is_valid(line) for line in lines)
    assert not validator.is_valid(lines[0] | {"started": "yesterday"})


def test_is_read_as_it_was_written(tmp_path, whole) -> None:
    write(tmp_path / "a.ndjson", whole)
    assert ndjson.read(tmp_path / "a.ndjson") == whole
    assert whole.covers_plan


def test_a_file_that_was_cut_anywhere_is_no_complete_report(tmp_path, whole) -> None:
    path = tmp_path / "a.ndjson"
    write(path, whole)
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    for end in range(first, len(content)):
        path.write_bytes(content[:end])
        assert not ndjson.read(path).complete
        assert ndjson.read(path).shortcoming


def test_a_line_that_is_missing_in_the_middle_is_seen(tmp_path, whole) -> None:
    path = tmp_path / "a.ndjson"
    write(path, whole)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert not ndjson.read(path).complete


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no complete line"),
        (b"{}", "no complete line"),
        (b"{}\n", "line 1"),
        (b"\xff\n", "line 1"),
        (b'{"kind": "footer", "counts": {}, "requests": 0, "seconds": 0, "complete": true}\n', "unexpected footer"),
        ((HEADER.model_dump_json().encode() + b"\n") * 2, "unexpected header in line 2"),
        (HEADER.model_dump_json().replace('"format":1', '"format":2').encode() + b"\n", "line 1: header.format"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, content, problem) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(content)
    with pytest.raises(ndjson.BadReport, match=problem):
        ndjson.read(path)


def test_totals_always_have_the_number_of_all() -> None:
    assert total({Verdict.PASS: 142, Verdict.FAIL: 3, Verdict.UNSUPPORTED: 2, Verdict.SKIP: 1}) == (
        "142 pass · 3 fail · 2 unsupported · 1 skip of 148"
    )
    assert total({}) == "0 pass · 0 fail of 0"


def test_advice_is_counted_apart(whole) -> None:
    advice = [line("chat/a/e", severity="should"), line("chat/a/f", "fail", severity="should")]
    assert totals(report(*whole.lines, *advice)) == [
        "must: 1 pass · 1 fail · 1 skip of 3",
        "should: 1 pass · 1 fail of 2",
    ]
    assert totals(report()) == ["must: 0 pass · 0 fail of 0"]


def test_what_was_left_out_is_told_by_its_reason(whole) -> None:
    assert summary(whole) == (
        "must: 1 pass · 1 fail · 1 skip of 3; 1 left out, not in the dialect openai; 1 left out, no key was given"
    )


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ({"complete": False}, "interrupted"),
        ({"lost": "chat/a/b", "complete": False}, "unreachable during chat/a/b"),
        ({"time_up": True}, "time limit"),
    ],
)
def test_a_run_that_is_not_whole_says_why(ended, words) -> None:
    made = report(line("chat/a/b"), **ended)
    assert words in made.shortcoming
    assert not made.covers_plan
