"""`specvino chat`, with the scripted engine, which answers with the words of the message."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.images import file
from support.serving_here import serving_here
from typer.testing import CliRunner

from specvino.cli import main
from specvino.cli.chat_endpoint import Endpoint
from specvino.cli.chat_session import Session, _finished

KEY = {"SPECVINO_API_KEY": "right"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving_here("--engine", "scripted", "--served-model-name", "first", env=KEY) as server:
        yield server.url


def piped(message: str, *arguments: str) -> tuple[int, str]:
    done = CliRunner(env=KEY).invoke(main, ["chat", *arguments], input=message)
    return done.exit_code, done.output


@pytest.fixture
def talk(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Types lines into a session, and gives what it prints."""

    def typed(*lines: str) -> str:
        left = iter(lines)

        def read(_: str) -> str:
            line = next(left, None)
            if line is None:
                raise EOFError
            return line

        monkeypatch.setattr("builtins.input", read)
        with Endpoint(url, "right") as endpoint:
            Session(endpoint, None, None, []).talk()
        return capsys.readouterr().out

    return typed


def test_a_message_through_a_pipe(url: str) -> None:
    assert piped("hello\n", url) == (0, "hello\n")
    assert piped("hello\n", url.removesuffix("/v1")) == (0, "hello\n")
    assert piped("hello\n", url, "-") == (0, "hello\n")


def test_a_cut_off_answer_through_a_pipe_says_so() -> None:
    with serving_here("--engine", "scripted", "--max-tokens-limit", "1", env=KEY) as server:
        assert piped("hello to all of you\n", server.url)[1].endswith(
            "\nspecvino: Cut off: the limit of tokens is reached.\n"
        )


def test_the_system_message_and_the_model(url: str) -> None:
    assert piped("a b", url, "--system", "c d", "--model", "first")[0] == 0
    code, output = piped("a b", url, "--model", "fist")
    assert (code, output) == (2, "specvino: the server has no model fist; did you mean first?\n")


@pytest.mark.parametrize(
    ("arguments", "message", "why"),
    [
        (["http://127.0.0.1:9/v1"], "a", "specvino: http://127.0.0.1:9/v1 can't be reached: "),
        (["-"], "\n", "specvino: stdin has no message"),
        (["URL", "-"], "\n", "specvino: stdin has no message"),
        (["URL", "two words"], "a", "specvino: a message is typed, or read from stdin, as in `echo 'two words' | "),
    ],
)
def test_what_ends_it(arguments: list[str], message: str, why: str) -> None:
    code, output = piped(message, *arguments)
    assert code == 2
    assert output.startswith(why)
    assert output.count("\n") == 1


def test_a_wrong_key_and_a_wrong_address(url: str) -> None:
    done = CliRunner(env={"SPECVINO_API_KEY": "wrong"}).invoke(main, ["chat", url], input="a")
    assert (done.exit_code, done.output) == (2, "specvino: 401: The API key is invalid.\n")
    code, output = piped("a", f"{url}/chat")
    assert code == 2
    assert "404" in output


def test_a_conversation_and_its_commands(talk) -> None:
    output = talk("one", "/system be brief", "/model", "/modle", "/model second", "/help", "/new", "/quit", "three")
    assert "\none " in output
    assert "The system message is set." in output
    assert "* first" in output
    assert "unknown command /modle; did you mean /model?" in output
    assert "the server has no model second; it has first" in output
    for command in ("system", "model", "image", "new", "help", "quit"):
        assert f"\n/{command}" in output
    assert "three" not in output


def test_an_image(talk, tmp_path: Path) -> None:
    for name in ("a b.png", "don't.png"):
        (tmp_path / name).write_bytes(file("red"))
    images = (f"/image '{tmp_path}/a b.png'", f"/image {tmp_path}/a b.png", f"/image {tmp_path}/don't.png")
    output = talk(*images, "/image", "/image none.png", "/image text.txt")
    assert "1 image goes with the next message." in output
    assert "3 images go with the next message." in output
    assert "give the file of an image" in output
    assert "none.png can't be read: No such file or directory" in output
    assert "text.txt isn't an image, by its name" in output


def test_an_error_leaves_the_conversation_as_it_was(talk) -> None:
    output = talk("script: unavailable=1\nx", "one")
    assert "503: " in output
    assert "\none " in output


@pytest.mark.parametrize(
    ("text", "finished"),
    [("a\n\nb", 3), ("a\nb", 0), ("```\na\n\nb\n", 0), ("```\na\n\nb\n```\n\nc", 14), ("a\n\n", 3), ("", 0)],
)
def test_blocks_are_finished_by_a_blank_line_outside_of_code(text: str, finished: int) -> None:
    assert _finished(text, 0) == finished


def test_a_terminal_obeys_nothing_in_an_answer(talk) -> None:
    output = talk("\x1b]0;title\x07 \x1b[31mred")
    assert "\\x1b[31mred" in output
    assert "\x1b" not in output
