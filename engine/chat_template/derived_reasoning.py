"""The tags around a model's reasoning, derived from what its chat template writes of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.engine.chat_template.derived_calls import ANSWER, QUESTION
from specvino.engine.chat_template.differences import TAG, common_start, outside_tags
from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.output_parsers.reasoning_tags import THINK, ReasoningTags

_THOUGHT = "\ue000thought\ue000"

# The names under which templates take reasoning: as a member of the message, or as a part of its content.
KEYS = ("reasoning_content", "reasoning", "thinking")

# The variables by which templates are told to think, and what they are set to for it and against it.
SWITCHES: Mapping[str, tuple[Any, Any]] = {"enable_thinking": (True, False), "thinking": (True, False)}

# A tag, or two with a word between, and a title behind.
_START = re.compile(rf"((?:{TAG.pattern})(?:\w+(?:{TAG.pattern}))?)(\s*\w*\s*)$")
_END = re.compile(rf"(\s*)((?:{TAG.pattern})(?:\w+(?:{TAG.pattern}))?)(\s*)")


def derived_reasoning(template: Template) -> ReasoningTags | None:
    """Returns the tags between which a template shows reasoning, or with which it begins an answer; None where there
    are none."""
    turns = list(_turns(template))
    for turn in turns:
        header, _, behind = turn.partition(_THOUGHT)
        start, end = _START.search(header), _END.match(behind)
        if start is not None and end is not None:
            title = start[2].lstrip("\n") if start[2].strip() else ""
            return ReasoningTags(start[1], _common_end_tag(turns, end), title=title, around=(end[1], end[3]))
    return _of_prompt(template) or _of_content(template)


def _common_end_tag(turns: Sequence[str], end: re.Match[str]) -> str:
    """Returns what ends the reasoning before answers and before calls alike: the tag, and what is always behind it."""
    behind = [turn.partition(_THOUGHT)[2] for turn in turns]
    common = common_start(*behind)
    common = common[: outside_tags(behind[0], len(common), forward=False)].strip()
    alike = len({ANSWER in text for text in behind}) == 2 and common.startswith(end[2])
    return common if alike else end[2]


def _turns(template: Template) -> Iterator[str]:
    """Yields an assistant's turn with reasoning in each of the ways in which templates take it, without the header that
    answers without reasoning have."""
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
    """Returns the tags with which answers begin, or which the prompt mentions, where the model is told to think."""
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
    told = len(prompts) == 2 and THINK.start in prompts[0] and THINK.start not in prompts[1]
    return THINK if told else None


def _of_content(template: Template) -> ReasoningTags | None:
    """Returns the tags between which a template leaves out what an earlier answer has."""
    answer = {"role": "assistant", "content": f"{THINK.start}{_THOUGHT}{THINK.end}{ANSWER}"}
    try:
        question, last = {"role": "user", "content": QUESTION}, {"role": "assistant", "content": "."}
        text = template.render([question, answer, question, last, question])
    except TemplateRefusal:
        return None
    return THINK if _THOUGHT not in text and ANSWER in text else None
