"""Calls of a model whose template shows none are written in its own format, and nothing of them is lost."""

import pytest

from specvino.engine.chat_template.files import TemplateTexts
from specvino.engine.openvino.preprocess.own_templates import OwnTemplates
from specvino.engine.request import ToolCall

PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
CALL = ToolCall("c1", "f", '{"city": "Zürich"}')


@pytest.mark.parametrize(
    ("special", "written"),
    [
        (["<tool_call>"], '<tool_call>\n{"name": "f", "arguments": {"city": "Zürich"}}\n</tool_call>'),
        (["<|tool_call_start|>"], '<|tool_call_start|>[f(city="Zürich")]<|tool_call_end|>'),
        ([], '{"name": "f", "arguments": {"city": "Zürich"}}'),
    ],
)
def test_a_call_is_written_as_the_model_does(special: list[str], written: str) -> None:
    assert OwnTemplates(TemplateTexts(PLAIN), {}, special).write_call(CALL) == written


@pytest.mark.parametrize("special", [["<tool_call>"], []])
def test_arguments_that_are_no_object_stay(special: list[str]) -> None:
    written = OwnTemplates(TemplateTexts(PLAIN), {}, special).write_call(ToolCall("c1", "f", "no object"))
    assert written == '{"name": "f", "arguments": "no object"}'
