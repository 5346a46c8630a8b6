"""Which models are served, as the options say it."""

import pytest
import typer
from typer.testing import CliRunner

from specvino.cli import main
from specvino.cli.serve_models import own_names
from specvino.cli.serve_options.models import EngineKind
from specvino.engine.models import ModelSource

TWO = ["--model", "a=x", "--model", "b=y"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["--model", "x"], "'x' is no NAME=MODEL"),
        (["--model", "=x"], "'=x' is no NAME=MODEL"),
        (["--model", "a="], "'a=' is no NAME=MODEL"),
        (["--model", "a=x", "--model", "a=y"], "two models have the name 'a'"),
        (["x", *TWO], "it can't be combined with MODEL, which is of one model"),
        (["--served-model-name", "n", *TWO], "it can't be combined with --served-model-name"),
        (["--revision", "v1", *TWO], "it can't be combined with --revision"),
        (["--draft-model", "d", *TWO], "it can't be combined with --draft-model"),
        (["--tool-parser", "hermes3", *TWO], "it can't be combined with --tool-parser"),
        (["--reasoning-parser", "none", *TWO], "it can't be combined with --reasoning-parser"),
        (["--served-model-name", ""], "a served model name can't be empty"),
    ],
)
def test_what_is_wrong_is_told(said: list[str], reason: str) -> None:
    command = ["serve", "--engine", "scripted", "--response-store", "none", "--port", "0", *said]
    run = CliRunner(env={"COLUMNS": "300"}).invoke(main, command)
    assert run.exit_code == 2
    assert reason in run.output


def test_names_of_one_model(tiny_text: ModelSource) -> None:
    openvino, scripted = EngineKind.OPENVINO, EngineKind.SCRIPTED
    assert own_names(None, None, openvino) == ("smollm2",)
    assert own_names(str(tiny_text.path), None, openvino) == ("tiny_text",)
    assert own_names("org/name:Q4_0", [], openvino) == ("org/name:Q4_0",)
    assert own_names("x", ["n", "m"], openvino) == ("n", "m")
    assert own_names(None, None, scripted) == ("scripted",)
    assert own_names("x", None, scripted) == ("x",)
    with pytest.raises(typer.BadParameter):
        own_names("x", [""], scripted)
