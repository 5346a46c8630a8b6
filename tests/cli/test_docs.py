"""The start lines that the pages of the systems show."""

from specvino.cli.docs import start_lines


def test_a_start_line() -> None:
    lines = start_lines()
    assert lines["vllm"].theirs == "vllm serve MODEL"
    assert lines["vllm"].ours == "specvino serve --dialect vllm MODEL"
    assert lines["vllm"].version == "0.33.0"
    [option] = [each for each in lines["ovms"].options["src/cli_parser.cpp"] if "--rest_port" in each.names]
    assert (option.effect, option.reason) == ("As --port.", "")
    assert lines["ollama"].note
    assert "openai" not in lines
