"""`serve --dialect` with options of the system, as a person sees it."""

import pytest
from typer.testing import CliRunner

from specvino.cli import main


def serve(*arguments: str):
    return CliRunner(env={"COLUMNS": "300"}).invoke(main, ["serve", *arguments])


def test_help_shows_the_system_s_options() -> None:
    help = serve("--dialect", "vllm", "--help").output
    assert "Options of `vllm serve MODEL` (0.33.0):" in help
    assert "As --tool-parser, for hermes, llama3_json" in help
    assert "Refused: The server listens on a TCP port." in help
    assert "--gpu-memory-utilization" not in help
    for shown in (serve("--help").output, serve("--dialect=ollama", "--help").output):
        assert "Options of" not in shown
        assert "--dialect NAME --help" in " ".join(shown.split())  # with more systems, the line breaks elsewhere


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--dialect", "sglang", "--chunked-prefill-size", "7"], "Invalid value for --chunked-prefill-size: "),
        (["--dialect=ovms", "--max_num_seqs", "x"], "Invalid value for --max_num_seqs: "),
        (["--dialect", "vllm", "--max-model-lem", "7"], "unknown option --max-model-lem. Did you mean"),
        (["--dialect", "nobody", "--swap-space", "7"], "No such option: --swap-space"),
        (["--swap-space", "7"], "--swap-space is an option of FastDeploy (without effect here). Use --dialect"),
        (
            ["-hf", "a/b"],
            "-hf is an option of llama.cpp (as MODEL). Use --dialect llama-cpp to accept it.",
        ),
        (["--source_model=m"], "--source_model is an option of OVMS (as MODEL). Use --dialect ovms to accept it."),
        (["--n-gpu-layers", "9"], "--n-gpu-layers is an option of llama.cpp (without effect here). Use"),
        (["--max-model-lem", "7"], "No such option: --max-model-lem"),
        (["--served-model-name", "-hf", "--max-model-lem", "7"], "No such option: --max-model-lem"),
        (["--dialect", "ollama", "--swap-space", "7"], "unknown option --swap-space."),
        (["--dialect", "vllm", "m", "n"], "unexpected extra argument"),
        (["m", "--dialect"], "requires an argument"),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_who_said_it(arguments, reason) -> None:
    run = serve(*arguments)
    assert run.exit_code == 2
    assert reason in run.output
