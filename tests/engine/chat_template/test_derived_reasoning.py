"""Reasoning as templates show it: in the history, at the end of a prompt, or by leaving it out."""

import pytest

from specvino.engine.chat_template.derived_reasoning import derived_reasoning
from specvino.engine.chat_template.template import Template
from specvino.engine.output_parsers.reasoning_tags import THINK, ReasoningTags

MESSAGES = "{% for m in messages %}<|{{ m.role }}|>{{ REASONING }}{{ m.content }}<|end|>{% endfor %}"
PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"


def template(reasoning: str = "", prompt: str = PROMPT) -> Template:
    return Template(MESSAGES.replace("{{ REASONING }}", reasoning) + prompt)


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("<why>{}</why>", ReasoningTags("<why>", "</why>")),
        ("<why>\n{}\n</why>\n\n", ReasoningTags("<why>", "</why>", around=("\n", "\n\n"))),
        ("[WHY]{}[/WHY]", ReasoningTags("[WHY]", "[/WHY]")),
        ("<|channel>thought\n{}<channel|>", ReasoningTags("<|channel>", "<channel|>", title="thought\n")),
        ("<|open|>why<|sep|>{}<|close|>why<|sep|>", ReasoningTags("<|open|>why<|sep|>", "<|close|>why<|sep|>")),
    ],
)
def test_in_the_history(key: str, written: str, tags: ReasoningTags) -> None:
    shown = written.replace("{}", f"{{{{ m.{key} }}}}")
    assert derived_reasoning(template(f"{{% if m.{key} %}}{shown}{{% endif %}}")) == tags


def test_in_messages_of_their_own() -> None:
    """What stands behind the reasoning before answers and calls alike belongs to its end."""
    reasoning = "{% if m.reasoning %}<|why|>{{ m.reasoning }}<|end|><|begin|>assistant{% endif %}"
    kind = "{% if m.tool_calls %}<|calls|>{% elif m.role == 'assistant' %}<|content|>{% endif %}"
    found = derived_reasoning(template(reasoning + kind))
    assert found == ReasoningTags("<|why|>", "<|end|><|begin|>assistant")


def test_as_a_part_of_the_content() -> None:
    text = (
        "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for p in m.content %}{{ '[THINK]' + p.thinking + '[/THINK]' if p.type == 'thinking' else p.text }}"
        "{% endfor %}{% endif %}{% endfor %}"
    )
    assert derived_reasoning(Template(text)) == ReasoningTags("[THINK]", "[/THINK]")


@pytest.mark.parametrize(
    "prompt",
    [
        "<|assistant|><think>\n",
        "<|assistant|>{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}",
        "{% if thinking %}Think in <think></think> first.{% endif %}<|assistant|>",
    ],
)
def test_in_the_prompt(prompt: str) -> None:
    assert derived_reasoning(template(prompt=prompt)) == THINK


def test_by_leaving_it_out() -> None:
    text = MESSAGES.replace("{{ REASONING }}{{ m.content }}", "{{ m.content.split('</think>')[-1] }}")
    assert derived_reasoning(Template(text)) == THINK


def test_nowhere() -> None:
    assert derived_reasoning(template()) is None
    assert derived_reasoning(Template("{{ raise_exception('no') }}")) is None
