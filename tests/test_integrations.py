"""What others run of this project: the GitHub action and the hooks of pre-commit."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from specvino.cli import main
from specvino.generated.systems import SYSTEMS

PROJECT = Path(__file__).parents[1]
ACTION = yaml.safe_load((PROJECT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())}
JUDGE = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "judge")


def test_action_and_issue_form_name_every_system() -> None:
    dialects = ACTION["inputs"]["dialect"]["description"].partition(": ")[2]
    assert dialects == f"{', '.join(SYSTEMS)} or specvino."
    form = yaml.safe_load((PROJECT / ".github" / "ISSUE_TEMPLATE" / "field-marking.yml").read_text())
    assert form["body"][0]["attributes"]["options"] == [*SYSTEMS.values(), "Specvino"]


def run_action(tmp_path, exit_code=0, **inputs):
    """Runs the script as a runner does, with a command that writes down its arguments."""
    command = tmp_path / "specvino" / "bin" / "specvino"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\nfor each; do printf '%s\\n' \"$each\"; done\nexit {exit_code}\n")
    command.chmod(0o755)
    values = {name: setting.get("default", "") for name, setting in ACTION["inputs"].items()} | inputs
    env = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], text)
        for name, text in JUDGE["env"].items()
    }
    paths = {"RUNNER_TEMP": tmp_path, "GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", JUDGE["run"]],
        env=os.environ | env | {name: str(path) for name, path in paths.items()},
        capture_output=True,
        text=True,
    )


def test_the_action_hands_its_inputs_on(tmp_path) -> None:
    given_inputs = {"baseline": "my file.yaml", "sarif": "s.sarif", "auth-header": "api-key"}
    run = run_action(tmp_path, url="http://x/v1", model="$(touch a) 'b'", **given_inputs)
    assert run.returncode == 0, run.stderr
    words = run.stdout.splitlines()
    given = dict(zip(words[1::2], words[2::2], strict=True))
    assert words[0] == "conform"
    assert {
        name: given[name] for name in ("--base-url", "--model", "--baseline", "--sarif", "--auth-header", "--dialect")
    } == {
        "--base-url": "http://x/v1",
        "--model": "$(touch a) 'b'",
        "--baseline": "my file.yaml",
        "--sarif": "s.sarif",
        "--auth-header": "api-key",
        "--dialect": "openai",
    }
    assert given["--markdown"] == str(tmp_path / "summary")
    reports = (tmp_path / "output").read_text().strip().removeprefix("reports=")
    assert Path(reports).is_dir()
    assert given["--ndjson"] == f"{reports}/report.ndjson"
    assert given["--badge"] == f"{reports}/badge.json"


@pytest.mark.parametrize(("strict", "passed"), [("true", True), ("false", False)])
def test_the_action_may_be_strict(tmp_path, strict, passed) -> None:
    words = run_action(tmp_path, url="http://x/v1", baseline="b.yaml", strict=strict).stdout.splitlines()
    assert ("--strict" in words) == passed


def test_options_that_are_not_given_are_not_passed(tmp_path) -> None:
    words = run_action(tmp_path, url="http://x/v1").stdout.splitlines()
    assert not {"--model", "--baseline", "--sarif", "--auth-header", "--strict"} & set(words)


def test_other_options_are_passed_as_a_shell_would_and_are_no_commands(tmp_path) -> None:
    args = "--layer fuzz --max-time 60\n--filter 'chat/*' --header \"X: $(touch a); b\""
    words = run_action(tmp_path, url="http://x/v1", args=args).stdout.splitlines()
    assert words[-8:] == ["--layer", "fuzz", "--max-time", "60", "--filter", "chat/*", "--header", "X: $(touch a); b"]
    assert "" not in run_action(tmp_path / "again", url="http://x/v1").stdout.splitlines()


@pytest.mark.parametrize("exit_code", [1, 2])
def test_the_action_fails_as_the_command_does(tmp_path, exit_code) -> None:
    assert run_action(tmp_path, exit_code, url="http://x/v1").returncode == exit_code


def test_no_input_is_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize(
    ("args", "installed"), [("", "SOURCE"), ("--layer fuzz", "SOURCE[fuzz]"), ("-f chat/fuzz", "SOURCE[fuzz]")]
)
def test_the_action_installs_what_generated_requests_need(tmp_path, args, installed) -> None:
    step = next(step for step in ACTION["runs"]["steps"] if "pip install" in step.get("run", ""))
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nmkdir -p "$3/bin" && cp "$0" "$3/bin/python"\necho "$@"\n')
    python.chmod(0o755)
    env = {"PYTHON": str(python), "SOURCE": "SOURCE", "ARGS": args, "RUNNER_TEMP": str(tmp_path)}
    assert env.keys() - {"RUNNER_TEMP"} == step["env"].keys()
    ran = subprocess.run(["bash", "-e", "-c", step["run"]], env=os.environ | env, capture_output=True, text=True)
    assert ran.stdout.split()[-1] == installed


def test_the_options_of_the_action_and_the_docs_exist() -> None:
    helps = (["conform", "--help"], ["conform", "parity", "--help"])
    help_text = "".join(CliRunner(env={"COLUMNS": "200"}).invoke(main, arguments).stdout for arguments in helps)
    docs = (PROJECT / "docs" / "conformance.md").read_text("utf-8")
    ours = re.sub("specvino serve .*", "", JUDGE["run"] + docs)
    for option in re.findall(r"--[a-z][a-z-]+", ours):
        assert option in help_text


def test_the_hook_for_baselines_runs(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("accepted: {chat/basics/answers: {verdict: fail}}")
    run = CliRunner().invoke(main, [*hook("specvino-baseline"), str(tmp_path / "b.yaml")])
    assert run.exit_code == 0, run.output


def test_the_hook_for_the_document_lints_that_of_the_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "openapi").symlink_to(PROJECT / "openapi")
    monkeypatch.chdir(tmp_path)
    read = []
    monkeypatch.setattr("specvino.codegen.spec.read", lambda folder: read.append(folder.resolve()))
    monkeypatch.setattr("specvino.codegen.lint.lint", lambda spec: [])
    run = CliRunner().invoke(main, hook("specvino-spec-lint"))
    assert run.exit_code == 0, run.output
    assert read == [PROJECT / "openapi"]


def hook(id: str) -> list[str]:
    entry: str = HOOKS[id]["entry"]
    program, *words = entry.split()
    assert program == "specvino"
    return words


@pytest.mark.parametrize(
    ("path", "meant"),
    [("specvino-baseline.yaml", True), ("ci/specvino-baseline.json", True), ("my-baseline.yaml", False)],
)
def test_the_hook_finds_baselines(path, meant) -> None:
    assert bool(re.search(HOOKS["specvino-baseline"]["files"], path)) == meant
