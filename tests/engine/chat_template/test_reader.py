"""The formats of templates that show none, or frame their messages; kinds/ has those that show their calls."""

from pathlib import Path

from specvino.engine.chat_template.reader import read_formats
from specvino.engine.chat_template.template import Template
from specvino.engine.output_parsers.named_formats import CALL_FORMATS
from specvino.engine.output_parsers.reasoning_tags import THINK, ReasoningTags
from specvino.engine.output_parsers.registry import ShownFormats

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
