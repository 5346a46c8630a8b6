"""The variables that a request passes to the chat template."""

import json
from typing import Any

import pytest

from specvino.engine.protocol import ModelInfo
from specvino.generated.models import CreateChatCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import require_supported
from specvino.handlers.template import TemplateVariables, template_variables


def variables(
    kwargs: dict[str, Any] | None = None, effort: str | None = None, used: tuple[str, ...] = ("enable_thinking",)
) -> TemplateVariables:
    """As in the pipeline, conditions are checked first."""
    fields = {"chat_template_kwargs": kwargs, "reasoning_effort": effort}
    body = CreateChatCompletionRequest.model_validate({"model": "m", "messages": [], **fields})
    require_supported(body, {})
    return template_variables(body, ModelInfo(1, 1, {}, thinking_variables=frozenset(used)))


def passed(kwargs: dict[str, Any] | None = None, effort: str | None = None) -> Any:
    return json.loads(variables(kwargs, effort).json)


def test_nothing() -> None:
    assert passed() == {}


def test_the_request_s_own() -> None:
    assert passed({"a": [1, {"b": None}], "enable_thinking": False, "add_generation_prompt": False}) == {
        "a": [1, {"b": None}],
        "enable_thinking": False,
        "add_generation_prompt": False,
    }
    assert passed({"add_generation_prompt": None}) == {}


def test_effort() -> None:
    assert passed(effort="none") == {"enable_thinking": False}
    assert passed(effort="xhigh") == {"enable_thinking": True, "reasoning_effort": "xhigh"}
    assert passed({"enable_thinking": False}, "high") == {"enable_thinking": False, "reasoning_effort": "high"}


@pytest.mark.parametrize(
    ("effort", "used", "reported"),
    [
        ("low", (), True),
        ("none", ("reasoning_effort",), True),
        ("low", ("reasoning_effort",), False),
        ("none", ("enable_thinking",), False),
        (None, (), False),
    ],
)
def test_effort_that_the_template_does_not_use_is_reported(
    effort: str | None, used: tuple[str, ...], reported: bool
) -> None:
    assert variables(None, effort, used).unsupported == (("reasoning_effort",) if reported else ())


def test_the_effort_of_responses_is_in_an_object() -> None:
    body = {"model": "m", "input": "x", "reasoning": {"effort": "low"}}
    variables = template_variables(CreateResponseRequest.model_validate(body), ModelInfo(1, 1, {}))
    assert json.loads(variables.json) == {"enable_thinking": True, "reasoning_effort": "low"}
    assert variables.unsupported == ("reasoning.effort",)


@pytest.mark.parametrize("name", ["messages", "tools", "bos_token", "eos_token"])
def test_variables_of_the_server(name: str) -> None:
    with pytest.raises(ApiError) as error:
        passed({name: None})
    assert (error.value.code, error.value.param) == ("invalid_value", f"chat_template_kwargs.{name}")


@pytest.mark.parametrize("value", ["true", 1, []])
def test_add_generation_prompt_is_true_or_false(value: Any) -> None:
    with pytest.raises(ApiError) as error:
        passed({"add_generation_prompt": value})
    assert (error.value.code, error.value.param) == ("invalid_type", "chat_template_kwargs.add_generation_prompt")
