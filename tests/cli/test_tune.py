"""`specvino tune`: what it prints and writes can be served with."""

import inspect
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.cli.serve import serve
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.tuning import search
from specvino.engine.openvino.tuning.figures import Figures
from specvino.engine.openvino.tuning.search import Candidate

MODEL = Path(__file__).parents[1] / "models" / "tiny_text"
CHOSEN = PipelineOptions(512, {"INFERENCE_PRECISION_HINT": "bf16"})


def tune(*given: str, columns: int = 300) -> tuple[int, str]:
    run = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["tune", *given])
    return run.exit_code, run.output


def test_a_model_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [Candidate("step", 1024), Candidate("pinning", plugin_config={"ENABLE_CPU_PINNING": False})]
    # Whether all of this machine load is tried in tests/engine/openvino/tuning.
    monkeypatch.setattr(search, "candidates", lambda machine: iter(few))
    code, output = tune(str(MODEL), "--seconds", "0", "-o", str(tmp_path / "serve.sh"))
    assert code == 0
    assert output.count("Measured: ") >= 3  # while it goes on
    assert "\n --max-num-batched-tokens 1024" in output
    # Which are fastest is the machine's business.
    last = output.splitlines()[-1].partition("  #")[0]
    assert last.startswith(f"specvino serve {MODEL}")
    assert (tmp_path / "serve.sh").read_text() == f'#!/bin/sh\nexec {last} "$@"\n'


def test_the_script_serves_with_the_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Found(search.Search):
        def rows(self):
            yield search.Row(CHOSEN, Figures(2, 1.5, 1.2, 1, 0.5), 3, 4)
            yield search.Failure(PipelineOptions(128), "no")
            self.chosen, self.slower = CHOSEN, {"longest_step": 0.5}

    monkeypatch.setattr(search, "Search", Found)
    script = tmp_path / "serve.sh"
    code, output = tune(str(MODEL), "-o", str(script))
    assert code == 0
    assert "2.00" in output
    assert "3 of 4" in output
    assert "specvino: slower than with the defaults: longest step 0.50\n" in output
    program = tmp_path / "specvino"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    printed = subprocess.run(["sh", str(script), "--port", "9"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["serve", str(MODEL), *CHOSEN.arguments(), "--port", "9"]
    assert shlex.join(["specvino", *printed.splitlines()[:-2]]) in output.splitlines()


def test_a_narrow_terminal_shows_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found(search.Search):
        def rows(self):
            yield search.Row(CHOSEN, Figures(2, 1.5, 1.2, 1, 0.5), 3, 4)
            yield search.Failure(PipelineOptions(128), "a reason that is longer than the terminal is wide " * 2)

    monkeypatch.setattr(search, "Search", Found)
    _, output = tune(str(MODEL), columns=80)
    assert "2.00    1.50     1.20     1.00     0.50" in output
    assert "3 of 4" in output


def test_the_reason_why_the_fastest_are_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rejecting(search.Search):
        def rows(self):
            self.again = search.Row(CHOSEN, Figures(2, 1, 0.8, 0.7, 2), 4, 4)
            yield self.again
            self.reason, self.slower = "slower with some number of answers", {"four": 0.8, "sixteen": 0.7}

    class Busy(search.OtherLoad):
        share = 0.234

    monkeypatch.setattr(search, "Search", Rejecting)
    monkeypatch.setattr(search, "OtherLoad", Busy)
    code, output = tune(str(MODEL))
    assert code == 0
    assert "warning: other programs used 23% of the CPU" in output
    reason = "slower with some number of answers (slower: 4 answers 0.80, 16 answers 0.70)"
    assert f"not recommended: --max-num-batched-tokens 512 INFERENCE_PRECISION_HINT=bf16, {reason}\n" in output
    assert output.splitlines()[-1].startswith(f"specvino serve {MODEL}  # the defaults")


def test_a_model_that_is_not_there_is_one_line() -> None:
    code, output = tune("/nowhere/model.gguf")
    assert code == 2
    assert output.splitlines()[-1].startswith("specvino: ")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (["--plugin-config", "f32"], "'f32' is not valid JSON"),
        (["--plugin-config", '{"NOPE": 1}'], "NOPE isn't a property of OpenVINO's CPU plugin"),
        (
            ["--max-num-batched-tokens", "64"],
            "--max-num-batched-tokens: 64 is less than 128",
        ),
    ],
)
def test_serve_says_what_is_wrong_with_options(message: list[str], reason: str) -> None:
    run = CliRunner().invoke(main, ["serve", str(MODEL), "--response-store", "none", "--port", "0", *message])
    assert run.exit_code
    assert reason in " ".join(run.output.split())


def test_a_default_that_is_not_said_is_that_of_serve() -> None:
    default = inspect.signature(serve).parameters["max_num_batched_tokens"].default
    assert default == PipelineOptions().max_num_batched_tokens


def test_candidates_are_what_serve_takes() -> None:
    assert Candidate("step", 128).applied(PipelineOptions()).arguments() == ["--max-num-batched-tokens", "128"]
