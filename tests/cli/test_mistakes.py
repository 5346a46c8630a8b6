"""A wrong command line ends with one line that says what, where and what instead, and with 2."""

import pytest
from typer.testing import CliRunner

from specvino.cli import main


def said(*arguments: str, **environment: str) -> str:
    done = CliRunner(env={"COLUMNS": "60", **environment}).invoke(main, arguments)
    assert done.exit_code == 2, done.output
    assert done.output.startswith("specvino: ")
    assert done.output.count("\n") == 1
    return done.output.removeprefix("specvino: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("serve --log-level loud", "--log-level: 'loud' isn't one of debug, info, warning, error"),
        ("serve --log-level inof", "--log-level: 'inof' isn't one of debug, info, warning, error; did you mean info?"),
        ("pull --weights int5 a/b", "--weights: 'int5' isn't one of int4, int8, fp16; did you mean int8?"),
        ("conform --layer case URL", "--layer: 'case' isn't one of cases, streams, fuzz; did you mean cases?"),
        ("serve --max-num-seqs x", "--max-num-seqs: 'x' isn't an integer"),
        ("serve --max-num-seqs 0", "--max-num-seqs: 0 is less than 1"),
        ("serve --request-timeout x", "--request-timeout: 'x' isn't a number"),
        ("serve --port 99999", "--port: 99999 is more than 65535"),
        ("serve --dialect vllm --port 99999", "--port: 99999 is more than 65535"),
        ("serve --dialect vlm", "--dialect: unknown dialect 'vlm'; did you mean vllm? available: "),
        ("conform --dialect vlm URL", "--dialect: unknown dialect 'vlm'; did you mean vllm? available: "),
        ("conform --client codx URL", "--client: unknown client 'codx'; did you mean codex? available: "),
    ],
)
def test_a_wrong_value(arguments: str, reason: str) -> None:
    assert said(*arguments.split()).startswith(f"Invalid value for {reason}")


def test_a_wrong_value_elsewhere_than_on_the_command_line(tmp_path) -> None:
    reason = "'lout' isn't one of debug, info, warning, error"
    assert said("serve", SPECVINO_LOG_LEVEL="lout") == (
        f"Invalid value for --log-level (from SPECVINO_LOG_LEVEL): {reason}"
    )
    (tmp_path / "a.toml").write_text('log-level = "lout"')
    assert said("serve", "--config", str(tmp_path / "a.toml")) == (
        f"Invalid value for --log-level (from {tmp_path}/a.toml): {reason}"
    )
    assert said("serve", SPECVINO_NO_WEB="perhaps") == (
        "Invalid value for --no-web (from SPECVINO_NO_WEB): 'perhaps' is neither true nor false"
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("serve --prot 1", "No such option: --prot; did you mean --port?"),
        ("serve --bogus 1", "No such option: --bogus; `specvino serve -h` shows the usage"),
        ("serve --weights int4", "No such option: --weights; `specvino pull` has it"),
        ("serve --zzz", "No such option: --zzz; `specvino serve -h` shows the usage"),
        ("serve --port", "Option '--port' requires an argument."),
        ("serve a b", "Got unexpected extra argument(s) (b); `specvino serve -h` shows the usage"),
        ("explain-template", "Missing argument 'FILE|MODEL'."),
        ("serv", "unknown command serv; did you mean serve? available: serve, deploy, chat, "),
        ("cache", "unknown command cache; did you mean models? available: serve, deploy, chat, "),
        ("sdk rust -o x", "unknown command rust; available: python, typescript, go"),
        ("sdk pyton -o x", "unknown command pyton; did you mean python? available: python, typescript, go"),
        ("models remove", "unknown command remove; available: rm"),
    ],
)
def test_an_unknown_name(arguments: str, reason: str) -> None:
    assert said(*arguments.split()).startswith(reason)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["-hf", "a/b c"],
            "-hf is an option of llama.cpp, not a command of specvino: "
            "try `specvino serve --dialect llama-cpp -hf 'a/b c'`",
        ),
        (["--port=3"], "--port is an option of `specvino serve`: try `specvino serve --port=3`"),
        (["--versoin"], "No such option: --versoin; did you mean --version?"),
        (["-z"], "No such option: -z; `specvino -h` lists the commands"),
    ],
)
def test_an_option_without_a_command(arguments: list[str], reason: str) -> None:
    assert said(*arguments) == reason


@pytest.mark.parametrize("group", [[], ["sdk"], ["docs"]])
def test_a_group_without_a_command_shows_its_help(group: list[str]) -> None:
    done = CliRunner().invoke(main, group)
    assert done.exit_code == 2
    assert done.output.startswith("Usage: ")
