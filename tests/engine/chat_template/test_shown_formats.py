"""Formats of templates that show no calls, or frame their messages (kinds/ has those that show their calls).

And reasoning as templates show it: in the history, at the end of a prompt, or by leaving it out.
"""

from pathlib import Path

import pytest

from specvino.engine.chat_template.shown_formats import derived_reasoning, read_formats
from specvino.engine.chat_template.template import Template
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.output_parsers.named_formats import CALL_FORMATS
from specvino.engine.output_parsers.reasoning_tags import THINK, ReasoningTags

PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
TOOLS = "{% if tools %}Write calls as HERE.{% endif %}"
TINY_TEXT = Path(__file__).parents[2] / "models" / "tiny_text_template.jinja"


def test_messages_are_known_by_their_headers() -> None:
    harmony = (
        "{% for m in messages %}<|start|>{{ m.role }}<|channel|>final<|message|>{{ m.content }}<|end|>{% endfor %}"
    )
    assert read_formats(Template(harmony)) == ShownFormats("gptoss", "gptoss")
    onyx = "{% for m in messages %}<|start|>{{ m.role }} to=user<|message|>{{ m.content }}<|eot|>{% endfor %}"
    assert read_formats(Template(onyx)) == ShownFormats("onyx", "onyx")


def test_a_template_without_calls_may_teach_them() -> None:
    taught = TOOLS.replace("HERE", "<tool_call>{}</tool_call>")
    assert read_formats(Template(taught + PLAIN)).tool == CALL_FORMATS["hermes3"]
    taught = TOOLS.replace("HERE", "<|tool_call|>[]")
    assert read_formats(Template(taught + PLAIN)).tool == CALL_FORMATS["granite"]
    # What is there without tools, too, isn't about them.
    assert read_formats(Template("<tool_call>" + PLAIN)).tool is None


def test_the_vocabulary_tells_it_too() -> None:
    assert read_formats(Template(PLAIN), ["<|im_end|>", "<|tool_call_start|>"]).tool == CALL_FORMATS["lfm2"]
    assert read_formats(Template(PLAIN), ["<|im_end|>"]) == ShownFormats()


def test_a_bare_call_is_llama_s() -> None:
    call = '{"name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}'
    calls = "{% for c in m.tool_calls or [] %}" + call + "{% endfor %}"
    text = PLAIN.replace("{{ m.content }}", calls + "{{ m.content }}")
    assert read_formats(Template(text)).tool == CALL_FORMATS["llama3"]  # with the mark that models write beside it


def test_the_tiny_model_s() -> None:
    shown = read_formats(Template(TINY_TEXT.read_text("utf-8")))
    assert shown.tool is not None
    assert isinstance(shown.reasoning, ReasoningTags)
    assert (shown.reasoning.start, shown.reasoning.end) == (THINK.start, THINK.end)


REASONED = "{% for m in messages %}<|{{ m.role }}|>{{ REASONING }}{{ m.content }}<|end|>{% endfor %}"
PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"


def reasoning_template(reasoning: str = "", prompt: str = PROMPT) -> Template:
    return Template(REASONED.replace("{{ REASONING }}", reasoning) + prompt)


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
def test_reasoning_in_the_history(key: str, written: str, tags: ReasoningTags) -> None:
    shown = written.replace("{}", f"{{{{ m.{key} }}}}")
    assert derived_reasoning(reasoning_template(f"{{% if m.{key} %}}{shown}{{% endif %}}")) == tags


def test_reasoning_in_messages_of_their_own() -> None:
    """Text that follows the reasoning before both answers and calls belongs to its end."""
    reasoning = "{% if m.reasoning %}<|why|>{{ m.reasoning }}<|end|><|begin|>assistant{% endif %}"
    kind = "{% if m.tool_calls %}<|calls|>{% elif m.role == 'assistant' %}<|content|>{% endif %}"
    tags = derived_reasoning(reasoning_template(reasoning + kind))
    assert tags == ReasoningTags("<|why|>", "<|end|><|begin|>assistant")


def test_reasoning_as_a_part_of_the_content() -> None:
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
def test_reasoning_in_the_prompt(prompt: str) -> None:
    assert derived_reasoning(reasoning_template(prompt=prompt)) == THINK


def test_reasoning_by_leaving_it_out() -> None:
    text = REASONED.replace("{{ REASONING }}{{ m.content }}", "{{ m.content.split('</think>')[-1] }}")
    assert derived_reasoning(Template(text)) == THINK


def test_reasoning_nowhere() -> None:
    assert derived_reasoning(reasoning_template()) is None
    assert derived_reasoning(Template("{{ raise_exception('no') }}")) is None
