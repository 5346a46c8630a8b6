"""`--lora-modules` in the forms of vLLM."""

import json
from pathlib import Path

import pytest

from specvino.handlers.models import Adapter
from specvino.server.assembly import OptionError, ServeOptions
from specvino.server.assembly.adapters import lora_modules
from specvino.server.assembly.models import make_engines, names

ONE = [("base", "alias")]
TWO = [("base",), ("other",)]


def test_the_forms() -> None:
    as_json = json.dumps({"name": "b", "path": "y", "base_model_name": "alias"})
    assert lora_modules(["a=x=1,2", as_json], ONE) == [
        Adapter("a", Path("x=1,2"), "base"),
        Adapter("b", Path("y"), "alias"),
    ]
    assert lora_modules([json.dumps({"name": "a", "path": "x", "base_model_name": "other"})], TWO)[0].base == "other"
    assert lora_modules([], TWO) == []


@pytest.mark.parametrize(
    ("given", "models", "reason"),
    [
        (["x"], ONE, "'x' is neither NAME=PATH nor of the form {"),
        (["=x"], ONE, "'=x' is neither"),
        (["a="], ONE, "'a=' is neither"),
        (['{"name": "a"}'], ONE, "is neither"),
        (['{"name": "a", "path": 1}'], ONE, "is neither"),
        (['{"name": "a", "path": "x", "is_3d_lora_weight": true}'], ONE, "is neither"),
        (["{"], ONE, "'{' is not valid JSON"),
        (["a=x", "a=y"], ONE, "the name 'a' is used twice"),
        (["alias=x"], ONE, "the name 'alias' is used twice"),
        (["a=x"], TWO, "'a=x': base_model_name is required with several models"),
        (
            ['{"name": "b", "path": "y", "base_model_name": "a"}'],
            ONE,
            "unknown base model 'a'; served: alias, base",
        ),
        (["a=x", '{"name": "b", "path": "y", "base_model_name": "a"}'], ONE, "unknown base model 'a'"),
    ],
)
def test_what_is_wrong_is_refused_with_the_reason(given: list[str], models: list[tuple[str, ...]], reason: str) -> None:
    with pytest.raises(OptionError) as raised:
        lora_modules(given, models)
    assert reason in str(raised.value)
    assert raised.value.option == "--lora-modules"


def test_they_are_models_of_the_server() -> None:
    options = ServeOptions(engine="scripted", served_model_name=["base", "alias"], lora_modules=["a=x", "b=y"])
    assert names(options) == ["base", "alias", "a", "b"]
    assert list(make_engines(options)) == [("base", "alias"), ("a",), ("b",)]
