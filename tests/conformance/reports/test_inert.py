"""What a server sends is only shown, by every output."""

import io
import json
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest
from rich.console import Console
from support.conforming import conform
from support.hostile import HOSTILE, obeyed
from support.raw_server import TEXT, answer, raw_server
from support.reports import HEADER, Page, exchange, report

from specvino.cli.ending import end
from specvino.conformance.http.client import Target
from specvino.conformance.python_api import WRITERS
from specvino.conformance.reports import har, html, inert, table
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.ndjson import write
from specvino.conformance.reports.plain import explained
from specvino.conformance.reports.records import Line
from specvino.conformance.verdict import Finding, Result, Verdict

TARGET = Target("http://127.0.0.1:8000/v1")

every_text = pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])


def echo(text):
    """An exchange with a text in all that a server decides on."""
    lines = f"{text}\n{text}\n{json.dumps(text)}".encode("utf-8", "surrogatepass")
    return exchange(headers={text: text, "location": text, "content-type": text}, content=lines, problem=text)


def hostile_report(text, **header):
    converter = Converter(TARGET)
    finding = Finding(text, (echo(text),))
    results = [
        Result("responses/capabilities/tools", "cases", text, Verdict.FAIL, because=text, findings=(finding,)),
        Result("responses/a/skipped", "cases", text, Verdict.SKIP, because=text),
        Result("chat/fuzz/run", "fuzz", text, Verdict.ERROR, because=text),
    ]
    made = report(*map(converter.line, results), lost=text)
    made.header = type(HEADER).model_validate(HEADER.model_dump() | {"model": text, "url": text} | header)
    return made


def terminal(made):
    file = io.StringIO()
    console = Console(file=file, color_system=None, width=200)
    console.print(table.heading(made.header), soft_wrap=True)
    with table.LiveTable(console, made, 9, lambda: 9, verbose=True) as live:
        for line in made.lines:
            live.feed(line)
    table.show_findings(console, made, verbose=True)
    table.show_totals(console, made, [])
    table.show_readiness(console, made)
    return file.getvalue()


@every_text
def test_a_terminal_obeys_nothing(text) -> None:
    shown = terminal(hostile_report(text, client="openai-agents"))
    assert "NOT READY" in shown
    # A terminal has spaces for a tab.
    assert "".join(inert.line(text).split()) in "".join(shown.split())
    assert not obeyed(shown)


@every_text
def test_plain_text_is_only_read(text) -> None:
    for line in hostile_report(text).lines:
        assert not obeyed(explained(line))


@every_text
@pytest.mark.parametrize("form", WRITERS)
def test_a_report_of_each_format_is_only_read(tmp_path, form, text) -> None:
    WRITERS[form](hostile_report(text, client="openai-agents"), tmp_path / "report")
    shown = (tmp_path / "report").read_bytes().decode()
    assert not obeyed(shown)
    if form in ("badge", "sarif"):
        json.loads(shown)
    if form == "junit":
        assert parse(tmp_path / "report").getroot().tag == "testsuites"
    if form == "html":
        assert_shows_only(shown)


def assert_shows_only(page: str) -> None:
    tags = Page(page).tags
    assert tags.count("script") == 1
    assert not {"img", "iframe"} & {*tags}


@every_text
def test_traffic_is_only_read(tmp_path, text) -> None:
    writer = har.Writer(tmp_path / "t.har", TARGET, "specvino 0.1.0")
    writer.write(echo(text))
    writer.close()
    shown = (tmp_path / "t.har").read_text("utf-8")
    assert len(json.loads(shown)["log"]["entries"]) == 1
    assert not obeyed(shown)


@every_text
def test_the_matrix_is_only_read(tmp_path, text) -> None:
    html.write_matrix({text: hostile_report(text), "other": hostile_report("other")}, tmp_path / "site")
    pages = [page.read_text("utf-8") for page in (tmp_path / "site").iterdir()]
    assert len(pages) == 3
    for page in pages:
        assert_shows_only(page)
        assert not obeyed(page)


@every_text
def test_a_difference_is_only_read(tmp_path, text) -> None:
    write(hostile_report("other"), tmp_path / "before.ndjson")
    write(hostile_report(text), tmp_path / "after.ndjson")
    for files in (["before.ndjson", "after.ndjson"], ["after.ndjson", "before.ndjson"]):
        run = conform("diff", *(tmp_path / file for file in files))
        assert run.exit_code == 1, run.output
        assert not obeyed(run.output)


@every_text
def test_the_reason_why_nothing_ran_is_only_read(capsys, text) -> None:
    with pytest.raises(SystemExit):
        end(text)
    said = capsys.readouterr().err
    assert said.startswith("specvino: ")
    assert not obeyed(said)


@every_text
def test_a_report_that_somebody_else_wrote_is_only_read(tmp_path, text) -> None:
    """Not by this program, and with the text as it is."""
    good = hostile_report("other")
    raw = "".join(record.model_dump_json() + "\n" for record in (good.header, *good.lines, good.footer))
    (tmp_path / "r.ndjson").write_text(raw.replace('"other"', json.dumps(text)), "utf-8")
    run = conform("diff", tmp_path / "r.ndjson", tmp_path / "r.ndjson")
    assert not obeyed(run.output)
    conform("matrix", tmp_path / "r.ndjson", "-o", tmp_path / "site")
    assert not [file for file in (tmp_path / "site").glob("*.html") if obeyed(file.read_text("utf-8"))]


@every_text
def test_what_is_inert_stays_as_it_is(text) -> None:
    for made in (inert.line, inert.block):
        once = made(text)
        assert not obeyed(once)
        assert made(once) == once
    assert inert.line(inert.block(text)) == inert.line(text)


def test_text_that_nobody_obeys_is_unchanged() -> None:
    for text in ("a::b::c", "# [x]", "日本語 é 👍\xa0!", "a\tb", "x: ::1", "## heading"):
        assert inert.line(text) == text
    assert inert.block("a\r\nb\n\tc") == "a\r\nb\n\tc"


def test_every_record_has_inert_text() -> None:
    line = Line(rule="a/b/c", layer="::error::", says="\x1b", verdict=Verdict.PASS)
    assert (line.layer, line.says) == ("\\x3a:error::", "\\x1b")


def test_a_whole_run_is_only_read(tmp_path) -> None:
    """By a server that sends all of it, wherever it can."""
    everything = "\n".join(HOSTILE.values())
    error = {"error": {"message": everything, "type": everything, "param": everything, "code": everything}}
    models = {"object": "list", "data": [{"id": f"::error::{everything.replace(chr(0xD800), '')}", "object": "model"}]}

    async def hostile(asked):
        if b'"stream": true' in asked.body:
            yield answer(
                f"data: {json.dumps(error)}\n\n{everything}".encode("utf-8", "replace"), media="text/event-stream"
            )
        elif len(server.asked) % 2:
            yield answer(json.dumps(error).encode(), "400 No")
        else:
            yield answer(json.dumps(TEXT | {everything: everything, "id": everything, "object": everything}).encode())

    files = {form: tmp_path / f"r.{form}" for form in (*WRITERS, "har")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(hostile, answer(json.dumps(models).encode())) as server:
        run = conform(server.url, "-f", "chat/basics", "-f", "chat/streams", "-f", "models", "-v", *options)
    assert run.exit_code == 1, run.output
    assert "\\x3a:error::" in run.output
    assert {name: obeyed(text)[:3] for name, text in _texts(run.output, files).items() if obeyed(text)} == {}


def _texts(output: str, files: dict[str, Path]) -> dict[str, str]:
    return {"terminal": output} | {form: file.read_bytes().decode() for form, file in files.items()}
