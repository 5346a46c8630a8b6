"""Which models are served, as the options say it."""

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.models import ModelSource
from specvino.server.assembly import OptionError, ServeOptions
from specvino.server.assembly.models import own_names

TWO = ["--model", "a=x", "--model", "b=y"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--model", "x"], "'x' is not of the form NAME=MODEL"),
        (["--model", "=x"], "'=x' is not of the form NAME=MODEL"),
        (["--model", "a="], "'a=' is not of the form NAME=MODEL"),
        (["--model", "a=x", "--model", "a=y"], "the name 'a' is used twice"),
        (["x", *TWO], "it can't be combined with MODEL, which applies to a single model"),
        (["--served-model-name", "n", *TWO], "it can't be combined with --served-model-name"),
        (["--revision", "v1", *TWO], "it can't be combined with --revision"),
        (["--draft-model", "d", *TWO], "it can't be combined with --draft-model"),
        (["--tool-parser", "hermes3", *TWO], "it can't be combined with --tool-parser"),
        (["--reasoning-parser", "none", *TWO], "it can't be combined with --reasoning-parser"),
        (["--chat-template", "FILE", *TWO], "it can't be combined with --chat-template"),
        (["--served-model-name", ""], "a served model name can't be empty"),
    ],
)
def test_what_is_wrong_is_told(arguments: list[str], reason: str) -> None:
    command = ["serve", "--engine", "scripted", "--response-store", "none", "--port", "0", *arguments]
    run = CliRunner(env={"COLUMNS": "300"}).invoke(main, command)
    assert run.exit_code == 2
    assert reason in run.output


def names(**options: object) -> tuple[str, ...]:
    return own_names(ServeOptions.model_validate(options))


def test_names_of_one_model(tiny_text: ModelSource) -> None:
    assert names() == ("smollm2",)
    assert names(model=str(tiny_text.path)) == ("tiny_text",)
    assert names(model="org/name:Q4_0", served_model_name=[]) == ("org/name:Q4_0",)
    assert names(model="x", served_model_name=["n", "m"]) == ("n", "m")
    assert names(engine="scripted") == ("scripted",)
    assert names(engine="scripted", model="x") == ("x",)
    with pytest.raises(OptionError):
        names(engine="scripted", model="x", served_model_name=[""])
