"""What a template can, read off what it writes."""

from dataclasses import asdict
from typing import Any

import pytest
from support import chat_templates as templates

from specvino.engine.chat_template.capabilities import Capabilities, read_capabilities
from specvino.engine.chat_template.template import Template

NO_CALLS = {"calls": False, "parallel_calls": False, "calls_beside_content": False, "text_arguments": False}


@pytest.mark.parametrize(
    ("template", "otherwise"),
    [
        (templates.PLAIN, {"tools": False, "reasoning": None}),
        (templates.TAUGHT, {"result_ids": True, "thinking": frozenset({"enable_thinking"})}),
        (templates.FIRST_SYSTEM, {"late_system": False, "tools": False, "reasoning": None, **NO_CALLS}),
        (templates.DEVELOPER, {"developer": True, "tools": False, "reasoning": None, **NO_CALLS}),
        (templates.PARTS, {"content": "parts", "images": True, "tools": False, "reasoning": None, **NO_CALLS}),
        (templates.AS_TEXT, {"arguments": "text", "tools": False, "reasoning": None}),
        (templates.BY_MEMBERS, {"text_arguments": False, "tools": False, "reasoning": None}),
        (
            templates.NULL_CONTENT,
            {"null_content": True, "calls_beside_content": False, "tools": False, "reasoning": None},
        ),
        (
            templates.ONE_CALL,
            {"parallel_calls": False, "content_beside_calls": False, "tools": False, "reasoning": None},
        ),
        (templates.SHORT_IDS, {"short_ids": True, "result_ids": True, "tools": False, "reasoning": None}),
        (templates.NAMED_RESULTS, {"result_names": True, "tools": False, "reasoning": None}),
        (templates.FOR_TOOLS, {"reasoning": None, **NO_CALLS}),
        (
            templates.STRICT,
            {
                "system": False,
                "late_system": False,
                "tools": False,
                "results": False,
                "reasoning": None,
                "consecutive": False,
                **NO_CALLS,
            },
        ),
    ],
)
def test_what_is_otherwise_than_in_most_templates(template: str, otherwise: dict[str, Any]) -> None:
    capabilities, usual = asdict(read_capabilities(Template(template))), asdict(Capabilities())
    assert {name: value for name, value in capabilities.items() if value != usual[name]} == otherwise


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_the_key_of_reasoning(key: str) -> None:
    template = "{% for m in messages %}{{ m.content }}{{ m." + key + " }}{% endfor %}"
    assert read_capabilities(Template(template)).reasoning == key


def test_reasoning_that_is_shown_while_calls_are_answered_or_thinking_is_on() -> None:
    answered = "{% for m in messages %}{{ m.content }}{{ m.reasoning if messages[-1].role == 'tool' }}{% endfor %}"
    assert read_capabilities(Template(answered)).reasoning == "reasoning"
    on = "{% for m in messages %}{{ m.content }}{{ m.reasoning if thinking }}{% endfor %}{{ '<think>' if thinking }}"
    assert read_capabilities(Template(on)).reasoning == "reasoning"


@pytest.mark.parametrize(
    ("words", "heeded"),
    [
        ("{{ '<think>' if enable_thinking is not defined or enable_thinking }}", {"enable_thinking"}),
        ("{{ '<think>' if thinking }}", {"thinking"}),
        ("Reasoning: {{ reasoning_effort or 'medium' }}", {"reasoning_effort"}),
        ("{# enable_thinking and reasoning_effort are words only #}", set()),
        ("{% if thinking_mode == 'chat' %}</think>{% endif %}", {"thinking_mode"}),
    ],
)
def test_the_switches_of_thinking_are_those_that_change_the_prompt(words: str, heeded: set[str]) -> None:
    assert read_capabilities(Template(templates.PLAIN + words)).thinking == heeded


def test_a_template_that_always_refuses_has_none() -> None:
    capabilities = read_capabilities(Template("{{ raise_exception('no') }}"))
    assert not any(
        [
            capabilities.system,
            capabilities.tools,
            capabilities.calls,
            capabilities.results,
            capabilities.reasoning,
            capabilities.thinking,
        ]
    )
