"""specvino spec, from the installed package's files."""

import io
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from support.tiny_document import dialect, kind, ref, talk, thing
from typer.testing import CliRunner

from specvino.cli import main
from specvino.cli.explain import UnknownField, explain_field, load
from specvino.codegen.fields import fields
from specvino.codegen.merge import merge_support

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "generated"


def spec(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["spec", *arguments])


def explain(name):
    run = spec("explain", name)
    assert run.exit_code == 0, run.output
    return run.output


def test_prints_the_document():
    run = spec()
    assert run.exit_code == 0
    assert run.stdout == (GENERATED / "openapi.json").read_text("utf-8")


@pytest.mark.parametrize(("version", "file"), [("3.2", "openapi.json"), ("3.1", "openapi-3.1.json")])
def test_versions_as_yaml(version, file):
    run = spec("--openapi", version, "--format", "yaml")
    assert yaml.safe_load(run.stdout) == json.loads((GENERATED / file).read_text("utf-8"))


def test_into_a_file(tmp_path):
    run = spec("-o", str(tmp_path / "api.json"))
    assert run.output == ""
    assert (tmp_path / "api.json").read_bytes() == (GENERATED / "openapi.json").read_bytes()


def test_into_a_file_that_can_not_be(tmp_path):
    run = spec("-o", str(tmp_path / "no" / "api.json"))
    assert run.exit_code == 1
    assert run.output.startswith(f"specvino: {tmp_path}/no/api.json can't be written: ")
    assert run.output.count("\n") == 1


@pytest.mark.parametrize(("option", "value", "words"), [("--openapi", "3.0", "'3.2'"), ("--format", "xml", "'json'")])
def test_unknown_values(option, value, words):
    run = spec(option, value)
    assert run.exit_code == 2
    assert option in run.output
    assert words in run.output


def test_lint():
    run = spec("lint", "--root", str(ROOT))
    assert (run.exit_code, run.output) == (0, "")


def test_lint_of_a_broken_source(tmp_path):
    shutil.copytree(ROOT / "openapi", tmp_path / "openapi")
    request = tmp_path / "openapi" / "schemas" / "chat" / "request.yaml"
    request.write_text(request.read_text().replace("maxItems: 4096", ""))
    run = spec("lint", "--root", str(tmp_path))
    assert run.exit_code == 1
    assert run.output.splitlines() == [
        "bounds: CreateChatCompletionRequest/properties/messages: an array needs maxItems",
        f"specvino: 1 problem in {tmp_path}/openapi",
    ]


def test_lint_of_nothing(tmp_path):
    run = spec("lint", "--root", str(tmp_path))
    assert run.exit_code == 1
    assert "openapi.yaml does not exist" in run.output
    assert run.output.count("\n") == 1


def test_explain_shows_what_the_document_says():
    shown = [" ".join(line.split()) for line in explain("chat.temperature").splitlines()]
    for line in ("type number, null", "at least 0", "at most 2", "default 1", "defined by openai", "here honoured"):
        assert line in shown
    assert any(line.startswith("vllm full Values below 0.01") for line in shown)
    for system in ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy"):
        assert any(line.startswith(f"{system} ") for line in shown)


def test_explain_what_is_honoured():
    shown = explain("chat.logit_bias")
    assert "unsupported" in shown
    assert '{"maxProperties": 0}' in shown


def test_explain_shows_every_part_of_that_name():
    shown = explain("chat.usage")
    assert "chat.response.usage" in shown
    assert "chat.stream.usage" in shown
    assert "when stream_options.include_usage is true" in shown
    assert "chat.response.usage" not in explain("chat.stream.usage")


def test_explain_shows_the_forms_and_their_bounds():
    shown = explain("chat.stop")
    assert "string (shortest 1; longest 1024)" in shown
    assert "list of string (shortest 1; longest 1024) (most elements 16)" in shown


def test_explain_joins_the_branches_of_a_union():
    assert "assistant, developer, function, system, tool, user" in " ".join(explain("chat.messages[].role").split())


def test_explain_keeps_brackets():
    assert "chat.stream.choices[].delta.content" in explain("chat.stream.choices[].delta.content")


def test_every_field_can_be_explained():
    document = load()
    names = [field.name for field in fields(document)]
    assert len(names) > 70
    for name in names:
        console = Console(file=io.StringIO(), width=200)
        explain_field(name, document, console)
        shown = console.file.getvalue()
        assert name in shown
        for system in ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy"):
            assert re.search(rf"^ *{system} +(full|partial|ignored|refused|absent|unknown)\b", shown, re.MULTILINE), (
                name
            )


def test_explain_follows_what_events_have_in_common_with_the_unary_answer():
    assert explain("chat.stream.usage.total_tokens").startswith("chat.response.usage.total_tokens ")


def test_explain_follows_lists_and_unions_too():
    document = talk(
        answer=thing(items={"type": "array", "items": ref("Item")}),
        event=thing(answer={"anyOf": [ref("Answer"), {"type": "null"}]}),
        Item={"anyOf": [ref("Call"), ref("Text")]},
        Call=kind("call", name={"type": "string"}),
        Text=kind("text", text={"type": "string"}),
    )
    sends = {"level": "partial", "note": "A number.", "sends": {"type": "integer"}}
    said = dialect(response={"items": "full", "items[].name": sends}, stream={"answer": "full"})
    merge_support(document, {"odd": said})
    console = Console(file=io.StringIO(), width=200)
    explain_field("talk.stream.answer.items[].name", document, console)
    shown = console.file.getvalue()
    assert shown.startswith("talk.response.items[].name")
    assert 'odd       partial    A number. (sends {"type": "integer"})' in shown
    with pytest.raises(UnknownField, match=r"there is no field talk\.stream\.answer\.items\[\]\.nam;"):
        explain_field("talk.stream.answer.items[].nam", document, console)


@pytest.mark.parametrize("system", ["openai", "ovms", "vllm", "mlc-llm", "fastdeploy"])
def test_dialects(system):
    run = spec("--dialect", system)
    assert run.exit_code == 0
    assert run.stdout == (GENERATED / "dialects" / f"{system}.json").read_text("utf-8")
    assert json.loads(run.stdout)["openapi"].startswith("3.1")


def test_a_dialect_as_yaml_into_a_file(tmp_path):
    run = spec("--dialect", "ovms", "--openapi", "3.1", "--format", "yaml", "-o", str(tmp_path / "ovms.yaml"))
    assert (run.exit_code, run.output) == (0, "")
    written = yaml.safe_load((tmp_path / "ovms.yaml").read_text("utf-8"))
    assert written == json.loads((GENERATED / "dialects" / "ovms.json").read_text("utf-8"))


def test_a_dialect_in_a_version_that_is_not_there():
    run = spec("--dialect", "ovms", "--openapi", "3.2")
    assert run.exit_code == 2
    assert "3.1 only" in run.output


def test_an_unknown_dialect():
    run = spec("--dialect", "../openapi")
    assert run.exit_code == 2
    assert "there is no dialect '../openapi'; there are fastdeploy, mlc-llm, openai, ovms, vllm" in run.output


@pytest.mark.parametrize("name", ["chat.temprature", "temperature"])
def test_explain_suggests(name):
    run = spec("explain", name)
    assert run.exit_code == 1
    assert f"there is no field {name}" in run.output
    assert "chat.temperature" in run.output
    assert run.output.count("\n") == 1
