"""The judge from Python: what others may import of it."""

import asyncio
import importlib
import pickle
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from reference_server.bench import KEY, MODEL
from reference_server.server import ReferenceServer
from support.asgi import answering
from support.raw_server import error, raw_server
from support.reports import line, report

import specvino.conformance
from specvino.conformance import RULES_VERSION, CannotRun, Settings, Verdict, run, run_async, write_report
from specvino.conformance.python_api import WRITERS

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys) -> None:
    section = PAGE.read_text().partition("\n## From Python\n")[2]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)

    def run_it(url: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            exec(compile(example.replace("http://127.0.0.1:8000/v1", url), str(PAGE), "exec"), {})
        return ended.value.code

    async def beside_a_server() -> Any:
        async with answering(ReferenceServer(key=None, model=MODEL)) as url:
            return await asyncio.to_thread(run_it, url)

    assert asyncio.run(beside_a_server()) == 0
    assert (tmp_path / "report.xml").read_text().startswith("<?xml")
    assert capsys.readouterr().out == ""


def judged(server, **settings):
    async def beside_it():
        async with answering(server) as url:
            return await run_async(Settings(url, key=KEY, filters=("models",), **settings.pop("more", {})), **settings)

    return asyncio.run(beside_it())


class WithoutModels(ReferenceServer):
    async def __call__(self, scope, receive, send):
        if scope.get("path") != "/v1/models":
            return await super().__call__(scope, receive, send)
        await send({"type": "http.response.start", "status": 500, "headers": [(b"content-type", b"text/plain")]})
        return await send({"type": "http.response.body", "body": b"oh"})


def test_a_report_has_the_version_of_the_rules_and_the_exit_code_of_the_command(tmp_path) -> None:
    good = judged(ReferenceServer(key=KEY, model=MODEL))
    assert (good.exit_code, good.header.rules, good.header.dialect) == (0, RULES_VERSION, "openai")
    assert good.covers_plan
    bad = judged(WithoutModels(key=KEY, model=MODEL), more={"model": MODEL})
    assert bad.exit_code == 1
    accepted = tmp_path / "baseline.yaml"
    rules = "\n".join(f"  {line.rule}: {{verdict: fail}}" for line in bad.lines if line.fails)
    accepted.write_text(f"accepted:\n{rules}\n")
    assert judged(WithoutModels(key=KEY, model=MODEL), baseline=accepted, more={"model": MODEL}).exit_code == 0


@pytest.mark.parametrize(
    ("lines", "ended", "code"),
    [
        ([line("chat/a/b")], {}, 0),
        ([line("chat/a/b", "fail")], {}, 1),
        ([line("chat/a/b", "fail", accepted=True)], {}, 0),
        ([line("chat/a/b")], {"lost": "chat/a/b"}, 1),
        ([line("chat/a/b")], {"complete": False}, 2),
        ([line("chat/a/b")], {"limited": "chat/a/b"}, 2),
        ([line("chat/a/b", "fail")], {"limited": "chat/a/b"}, 2),
        ([line("chat/a/b", "skip")], {}, 2),
    ],
)
def test_the_exit_code(lines, ended, code) -> None:
    assert report(*lines, **ended).exit_code == code


def test_what_cant_run_says_so(tmp_path) -> None:
    with pytest.raises(CannotRun, match="unknown dialect 'nobody'"):
        run(Settings("http://127.0.0.1:1/v1", dialect="nobody"))
    with pytest.raises(CannotRun, match="can't be read"):
        run(Settings("http://127.0.0.1:1/v1"), baseline=tmp_path / "none.yaml")


def test_what_cant_run_quotes_a_server_without_the_key() -> None:
    async def refuses(asked):
        yield error("401 Unauthorized", f"{KEY} is wrong\n::error::\x1b[2J")

    with (
        raw_server(refuses, error("404 Not Found", "no")) as server,
        pytest.raises(CannotRun, match=r"rejects the key \(.*: \[redacted\] is wrong\\x0a\\x3a:error::\\x1b\[2J\)"),
    ):
        run(Settings(server.url, key=KEY, model="m"))


def test_settings_dont_show_the_key() -> None:
    settings = Settings("http://127.0.0.1:1/v1", key="sk-secret", headers=("X-Secret: abc",))
    assert "sk-secret" not in repr(settings)
    assert "abc" not in repr(settings)


@pytest.mark.parametrize("format", WRITERS)
def test_each_format_is_written(tmp_path, format) -> None:
    write_report(report(line("chat/a/b")), tmp_path / "file", format)
    assert (tmp_path / "file").stat().st_size > 0


def test_public_names_are_there_and_typed() -> None:
    for name in specvino.conformance.__all__:
        assert getattr(specvino.conformance, name) is not None
    with pytest.raises(AttributeError):
        specvino.conformance.no_such_name  # noqa: B018
    assert files("specvino.conformance").joinpath("py.typed").is_file()
    assert pickle.loads(pickle.dumps(Verdict.PASS)) is importlib.import_module("specvino.conformance").Verdict.PASS
