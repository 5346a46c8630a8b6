"""The formats in which a chat template renders calls and reasoning. `derived_calls.py` derives the format of calls,
this module the tags around reasoning.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from specvino.engine.chat_template.derived_calls import (
    ANSWER,
    QUESTION,
    TAG,
    common_start,
    derived_calls,
    outside_tags,
)
from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.output_parsers.named_formats import CALL_FORMATS, MESSAGE_FRAMINGS
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, THINK, ReasoningTags


def read_formats(template: Template, special: Collection[str] = ()) -> ShownFormats:
    """Returns the formats that a template shows. `special` are the texts of the vocabulary's special tokens."""
    framing = _framing(template)
    if framing is not None:
        return ShownFormats(framing, framing)
    reasoning = derived_reasoning(template)
    calls = derived_calls(template) or _taught(template, special)
    return ShownFormats(calls and _known(calls, reasoning), GEMMA4 if _same(reasoning, GEMMA4) else reasoning)


def _framing(template: Template) -> str | None:
    """Returns the name of the message format that frames a whole answer; None if the template has none."""
    try:
        shown = template.render(
            [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}],
            add_generation_prompt=False,
        )
    except TemplateRefusal:
        return None
    return next((name for name, framing in MESSAGE_FRAMINGS.items() if framing.answer + ANSWER in shown), None)


def _taught(template: Template, special: Collection[str]) -> CallFormat | None:
    """Returns the format whose marker is in a prompt with tools or in the vocabulary, for templates that omit calls in
    the history.
    """
    tool = {"type": "function", "function": {"name": "probe", "description": ".", "parameters": {}}}
    prompts = []
    for tools in ([tool], None):
        try:
            prompts.append(template.render([{"role": "user", "content": QUESTION}], tools))
        except TemplateRefusal:
            prompts.append("")
    with_tools, without = prompts
    for format in CALL_FORMATS.values():
        mark = format.trigger and TAG.match(format.trigger)
        if mark and mark[0] not in without and (mark[0] in with_tools or mark[0] in special):
            return format
    return None


def _known(calls: CallFormat, reasoning: ReasoningTags | None) -> CallFormat:
    """Returns the format without empty reasoning before the calls. A named format takes its place if it also parses
    variants that models write but templates don't.
    """
    begin, end = calls.section
    if reasoning is not None and begin.startswith(reasoning.start):
        rest = begin.removeprefix(reasoning.start).lstrip()
        if rest.startswith(reasoning.end):
            section = (rest.removeprefix(reasoning.end).lstrip(), end)
            calls = msgspec.structs.replace(calls, section=section)
    bare = (named for named in CALL_FORMATS.values() if named.arguments == calls.arguments and named.bare)
    return next(bare, calls) if calls.bare else calls


def _same(reasoning: ReasoningTags | None, other: ReasoningTags) -> bool:
    return reasoning is not None and (reasoning.start, reasoning.end) == (other.start, other.end)


_THOUGHT = "\ue000thought\ue000"

# The keys under which templates expect reasoning, in the message or in a part of its content.
KEYS = ("reasoning_content", "reasoning", "thinking")

# The variables that enable and disable thinking, with both values.
SWITCHES: Mapping[str, tuple[Any, Any]] = {"enable_thinking": (True, False), "thinking": (True, False)}

# A tag, or two with a word between them, followed by a title.
_START = re.compile(rf"((?:{TAG.pattern})(?:\w+(?:{TAG.pattern}))?)(\s*\w*\s*)$")
_END = re.compile(rf"(\s*)((?:{TAG.pattern})(?:\w+(?:{TAG.pattern}))?)(\s*)")


def derived_reasoning(template: Template) -> ReasoningTags | None:
    """Returns the tags around reasoning in the history or at the beginning of an answer; None if there are none."""
    turns = list(_turns(template))
    for turn in turns:
        header, _, rest = turn.partition(_THOUGHT)
        start, end = _START.search(header), _END.match(rest)
        if start is not None and end is not None:
            title = start[2].lstrip("\n") if start[2].strip() else ""
            return ReasoningTags(start[1], _common_end_tag(turns, end), title=title, around=(end[1], end[3]))
    return _of_prompt(template) or _of_content(template)


def _common_end_tag(turns: Sequence[str], end: re.Match[str]) -> str:
    """Returns the text that ends the reasoning before answers as well as calls: the tag, and the text that always
    follows it.
    """
    rests = [turn.partition(_THOUGHT)[2] for turn in turns]
    common = common_start(*rests)
    common = common[: outside_tags(rests[0], len(common), forward=False)].strip()
    has_both = len({ANSWER in text for text in rests}) == 2
    return common if has_both and common.startswith(end[2]) else end[2]


def _turns(template: Template) -> Iterator[str]:
    """Yields an assistant's turn with reasoning in each form that templates accept, without the header that answers
    without reasoning have, too.
    """
    contents: list[Any] = [
        [{"type": "thinking", "thinking": _THOUGHT}, {"type": "text", "text": ANSWER}],
        {"blocks": [{"type": "thoughts", "text": _THOUGHT}, {"type": "response", "text": ANSWER}]},
    ]
    call = {"id": "idAAAAAA1", "type": "function", "function": {"name": "probe", "arguments": {}}}
    result = {"role": "tool", "tool_call_id": call["id"], "name": "probe", "content": "."}
    answered: list[Any] = [[{"role": "assistant", "content": ANSWER, key: _THOUGHT}] for key in KEYS]
    called: list[Any] = [
        [{"role": "assistant", "content": "", key: _THOUGHT, "tool_calls": [call]}, result] for key in KEYS
    ]
    for turn in (*answered, *called, *([{"role": "assistant", "content": content}] for content in contents)):
        reasoned = _turn(template, turn)
        if reasoned is None or _THOUGHT not in reasoned:
            continue
        plain = _turn(template, [{"role": "assistant", "content": ANSWER}]) or ""
        header = common_start(reasoned, plain)
        rest = reasoned[outside_tags(reasoned, len(header), forward=False) :]
        yield rest if TAG.search(rest.partition(_THOUGHT)[0]) else reasoned


def _turn(template: Template, messages: Sequence[Mapping[str, Any]]) -> str | None:
    try:
        text = template.render(
            [{"role": "user", "content": QUESTION}, *messages],
            add_generation_prompt=False,
            variables={name: on for name, (on, _) in SWITCHES.items()},
        )
    except TemplateRefusal:
        return None
    return text.rpartition(QUESTION)[2]


def _of_prompt(template: Template) -> ReasoningTags | None:
    """Returns the tags at the beginning of answers, or those in the prompt that only occur if thinking is enabled."""
    prompts = []
    for choice in (0, 1):
        try:
            prompt = template.render(
                [{"role": "user", "content": QUESTION}],
                variables={name: values[choice] for name, values in SWITCHES.items()},
            )
        except TemplateRefusal:
            continue
        if prompt.rstrip().endswith((THINK.start, THINK.end)):
            return THINK
        prompts.append(prompt)
    is_mentioned = len(prompts) == 2 and THINK.start in prompts[0] and THINK.start not in prompts[1]
    return THINK if is_mentioned else None


def _of_content(template: Template) -> ReasoningTags | None:
    """Returns the tags whose content a template removes from earlier answers."""
    answer = {"role": "assistant", "content": f"{THINK.start}{_THOUGHT}{THINK.end}{ANSWER}"}
    try:
        question, last = {"role": "user", "content": QUESTION}, {"role": "assistant", "content": "."}
        text = template.render([question, answer, question, last, question])
    except TemplateRefusal:
        return None
    return THINK if _THOUGHT not in text and ANSWER in text else None
