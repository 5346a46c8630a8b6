"""What a request tells the chat template."""

import json
from typing import Any

import pytest

from specvino.engine.protocol import ModelInfo
from specvino.handlers.errors import ApiError
from specvino.handlers.template import TemplateFields, TemplateVariables, template_variables


def variables(
    kwargs: dict[str, Any] | None = None, effort: str | None = None, heeded: tuple[str, ...] = ("enable_thinking",)
) -> TemplateVariables:
    model = ModelInfo(1, 1, {}, thinking_variables=frozenset(heeded))
    return template_variables(TemplateFields(kwargs, effort), model)


def told(kwargs: dict[str, Any] | None = None, effort: str | None = None) -> Any:
    return json.loads(variables(kwargs, effort).json)


def test_nothing() -> None:
    assert told() == {}


def test_the_request_s_own() -> None:
    assert told({"a": [1, {"b": None}], "enable_thinking": False, "add_generation_prompt": False}) == {
        "a": [1, {"b": None}],
        "enable_thinking": False,
        "add_generation_prompt": False,
    }
    assert told({"add_generation_prompt": None}) == {}


def test_effort() -> None:
    assert told(effort="none") == {"enable_thinking": False}
    assert told(effort="xhigh") == {"enable_thinking": True, "reasoning_effort": "xhigh"}
    assert told({"enable_thinking": False}, "high") == {"enable_thinking": False, "reasoning_effort": "high"}


@pytest.mark.parametrize(
    ("effort", "heeded", "reported"),
    [
        ("low", (), True),
        ("none", ("reasoning_effort",), True),
        ("low", ("reasoning_effort",), False),
        ("none", ("enable_thinking",), False),
        (None, (), False),
    ],
)
def test_effort_that_the_template_does_not_heed_is_reported(
    effort: str | None, heeded: tuple[str, ...], reported: bool
) -> None:
    assert variables(None, effort, heeded).unsupported == (("reasoning_effort",) if reported else ())


@pytest.mark.parametrize("name", ["messages", "tools", "bos_token", "eos_token"])
def test_what_the_template_gets_anyhow(name: str) -> None:
    with pytest.raises(ApiError) as error:
        told({name: None})
    assert (error.value.code, error.value.param) == ("invalid_value", f"chat_template_kwargs.{name}")


@pytest.mark.parametrize("value", ["true", 1, []])
def test_add_generation_prompt_is_true_or_false(value: Any) -> None:
    with pytest.raises(ApiError) as error:
        told({"add_generation_prompt": value})
    assert (error.value.code, error.value.param) == ("invalid_type", "chat_template_kwargs.add_generation_prompt")
