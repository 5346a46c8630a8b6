"""What a chat template shows of the formats in which its model writes calls and reasoning."""

from collections.abc import Collection

import msgspec

from specvino.engine.chat_template.derived_calls import ANSWER, QUESTION, derived_calls
from specvino.engine.chat_template.derived_reasoning import derived_reasoning
from specvino.engine.chat_template.differences import TAG
from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.named_formats import CALL_FORMATS
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, ReasoningTags
from specvino.engine.output_parsers.registry import MESSAGE_FRAMINGS, ShownFormats


def read_formats(template: Template, special: Collection[str] = ()) -> ShownFormats:
    """Returns the formats that a template shows; `special` are the texts of the vocabulary's special tokens."""
    framing = _framing(template)
    if framing is not None:
        return ShownFormats(framing, framing)
    reasoning = derived_reasoning(template)
    calls = derived_calls(template) or _taught(template, special)
    return ShownFormats(calls and _known(calls, reasoning), GEMMA4 if _same(reasoning, GEMMA4) else reasoning)


def _framing(template: Template) -> str | None:
    """Returns the name of the format whose messages an answer consists of."""
    try:
        shown = template.render(
            [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}],
            add_generation_prompt=False,
        )
    except TemplateRefusal:
        return None
    return next((name for name, framing in MESSAGE_FRAMINGS.items() if framing.answer + ANSWER in shown), None)


def _taught(template: Template, special: Collection[str]) -> CallFormat | None:
    """Returns the format of which a prompt with tools, or a token of the vocabulary, has the mark: for templates that
    leave calls out of the history."""
    tool = {"type": "function", "function": {"name": "probe", "description": ".", "parameters": {}}}
    prompts = []
    for tools in ([tool], None):
        try:
            prompts.append(template.render([{"role": "user", "content": QUESTION}], tools))
        except TemplateRefusal:
            prompts.append("")
    told, untold = prompts
    for format in CALL_FORMATS.values():
        mark = format.trigger and TAG.match(format.trigger)
        if mark and mark[0] not in untold and (mark[0] in told or mark[0] in special):
            return format
    return None


def _known(calls: CallFormat, reasoning: ReasoningTags | None) -> CallFormat:
    """Returns the format without empty reasoning before the calls; a named one in its place, if it differs by what
    models write beside what templates do."""
    begin, end = calls.section
    if reasoning is not None and begin.startswith(reasoning.start):
        behind = begin.removeprefix(reasoning.start).lstrip()
        if behind.startswith(reasoning.end):
            section = (behind.removeprefix(reasoning.end).lstrip(), end)
            calls = msgspec.structs.replace(calls, section=section)
    bare = (named for named in CALL_FORMATS.values() if named.arguments == calls.arguments and named.bare)
    return next(bare, calls) if calls.bare else calls


def _same(reasoning: ReasoningTags | None, other: ReasoningTags) -> bool:
    return reasoning is not None and (reasoning.start, reasoning.end) == (other.start, other.end)
