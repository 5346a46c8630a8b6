"""The capabilities of a chat template, detected by rendering probes; the template's source isn't searched. A template
renders a part of a conversation if a text that occurs only in that part is in the prompt.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from specvino.engine.chat_template.template import Template, TemplateRefusal

REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""The keys under which templates expect the reasoning of an earlier turn, the most common first."""

# Variables that control whether and how much a model thinks, and values that cover all known templates.
_SWITCHES = (
    "enable_thinking",
    "thinking",
    "thinking_mode",
    "thinking_budget",
    "thinking_option",
    "think",
    "reasoning",
    "reasoning_effort",
    "reasoning_strength",
)
_SETTINGS: tuple[Any, ...] = (True, False, "none", "low", "high", "off", "on", "thinking", "chat", "disabled", 0, 512)

_USER, _ANSWER, _LATER, _SYSTEM, _RESULT, _REASON = "uuuser", "aaanswer", "lllater", "sssystem", "rrresult", "rrreason"
_FIRST, _SECOND, _KEY, _VALUE = "fffirst", "sssecond", "kkkey", "vvvalue"

# Mistral's templates require nine letters and digits.
_ID, _OTHER_ID = "call00001", "call00002"
_LONG_ID = "call_0123456789abcdef01234567"

_AS_TEXT, _NO_OBJECT = json.dumps({_KEY: _VALUE}), "nnno object"
_FORMS: tuple[tuple[Literal["object", "text"], str | None], ...] = (("object", None), ("text", _AS_TEXT))

# The tool that turns with calls may call. Its name must differ from the names in the calls.
_OTHER = "ooother"

# A role that no template supports: a template that renders it renders any role.
_MADE_UP = "mmmadeup"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The parts of a conversation that a chat template renders, and the form in which it expects them.

    - `content`: whether a message's content must be a text or a list of parts.
    - `system`: the system role at the beginning; `late_system`: also elsewhere and several times; `developer`: a role
      that the template distinguishes from an unknown one.
    - `tools`: the tools of the request.
    - `calls`: the calls of earlier turns; `parallel_calls`: several in one turn; `calls_beside_content`: those of a
      turn that has content; `content_beside_calls`: that content. `null_content`: calls are shown only if the turn's
      content is null.
    - `arguments`: the type of a call's arguments; `text_arguments`: a text is shown unchanged even if objects are
      expected.
    - `short_ids`: ids of calls must be nine letters and digits.
    - `results`: the messages of tools; `result_ids`: their ids are shown; `result_names`: the tool is known only by the
      message's own name.
    - `reasoning`: the key of a turn's reasoning; None if it is never shown.
    - `thinking`: the variables that change the prompt's reasoning part.
    - `consecutive`: two user messages may follow each other.
    - `images`: images are parts of a content.
    """

    content: Literal["text", "parts"] = "text"
    system: bool = True
    late_system: bool = True
    developer: bool = False
    tools: bool = True
    calls: bool = True
    parallel_calls: bool = True
    calls_beside_content: bool = True
    content_beside_calls: bool = True
    null_content: bool = False
    arguments: Literal["object", "text"] = "object"
    text_arguments: bool = True
    short_ids: bool = False
    results: bool = True
    result_ids: bool = False
    result_names: bool = False
    reasoning: str | None = "reasoning_content"
    thinking: frozenset[str] = frozenset()
    consecutive: bool = True
    images: bool = False


def read_capabilities(template: Template) -> Capabilities:
    """Returns the capabilities of a template."""
    content: Literal["text", "parts"] = "text"
    if not _Probe(template, "text").shows([_user()], _USER) and _Probe(template, "parts").shows([_user()], _USER):
        content = "parts"
    probe = _Probe(template, content)
    null_content, arguments = probe.form_of_calls()
    empty = None if null_content else ""
    argument = _AS_TEXT if arguments == "text" else None
    one, two = _call(arguments=argument), _call(_SECOND, _OTHER_ID, argument)
    long, raw = _call(id=_LONG_ID, arguments=argument), _call(arguments=_NO_OBJECT)
    called, beside = probe.write_calls(one, content=empty), probe.write_calls(one, content=_ANSWER)
    calling_turns = _calling_turns(one, content=empty)
    switches = {name: True for name in _SWITCHES if probe.depends_on(name)}
    return Capabilities(
        content=content,
        system=probe.shows([_system(), _user()], _SYSTEM, _USER),
        late_system=probe.shows(_SYSTEMS, *(message["content"] for message in _SYSTEMS)),
        developer=probe.knows_role("developer"),
        tools=probe.shows([_user()], _FIRST, _SECOND, tools=_TOOLS),
        calls=_FIRST in called and _VALUE in called,
        parallel_calls=all(name in probe.write_calls(one, two, content=empty) for name in (_FIRST, _SECOND)),
        calls_beside_content=_FIRST in beside,
        content_beside_calls=_ANSWER in beside,
        null_content=null_content,
        arguments=arguments,
        text_arguments=_NO_OBJECT in probe.write_calls(raw, content=empty),
        short_ids=_FIRST in called and _FIRST not in probe.write_calls(long, content=empty),
        results=probe.shows([*calling_turns, _result()], _RESULT),
        result_ids=probe.shows([*calling_turns, _result(_OTHER_ID)], _OTHER_ID),
        result_names=probe.needs_names(calling_turns),
        reasoning=next((key for key in REASONING_KEYS if probe.shows_reasoning(key, calling_turns, switches)), None),
        thinking=frozenset(switches),
        consecutive=probe.shows([_user(), _user(_LATER)], _USER, _LATER),
        images=probe.shows_images(),
    )


class _Probe:
    """Renders messages with contents in the form that the template expects."""

    def __init__(self, template: Template, content: Literal["text", "parts"]) -> None:
        self._template = template
        self._content = content

    def write(self, messages: Sequence[Mapping[str, Any]], tools: Any = None, **variables: Any) -> str | None:
        """Returns the prompt; None if the template refuses the messages."""
        fitted = [self._fitted(message) for message in messages]
        try:
            return self._template.render(fitted, tools, variables=variables)
        except TemplateRefusal:
            return None

    def shows(self, messages: Sequence[Mapping[str, Any]], *texts: str, tools: Any = None, **variables: Any) -> bool:
        """Returns whether all these texts are in the prompt."""
        called = any("tool_calls" in message for message in messages)  # some templates need tools for that
        written = self.write(messages, tools or (_OTHER_TOOLS if called else None), **variables)
        if written is None and not tools and not called:  # the template may be for conversations with tools only
            written = self.write(messages, _OTHER_TOOLS, **variables)
        return written is not None and all(text in written for text in texts)

    def write_calls(self, *calls: Mapping[str, Any], content: str | None) -> str:
        """Returns a prompt with these calls and their results, or without results if the template refuses them."""
        calling_turns = _calling_turns(*calls, content=content)
        results = [{**_result(call["id"]), "name": _OTHER} for call in calls]
        return self.write([*calling_turns, *results], _OTHER_TOOLS) or self.write(calling_turns, _OTHER_TOOLS) or ""

    def form_of_calls(self) -> tuple[bool, Literal["object", "text"]]:
        """Returns whether the content next to calls must be null, and the type of arguments that the template renders
        as a model would write them: neither as a Python repr nor as a JSON string.
        """
        unlike = (f"'{_KEY}': ", f'\\"{_KEY}\\"')
        for content in ("", None):
            for form, arguments in _FORMS:
                written = self.write_calls(_call(arguments=arguments), content=content)
                if _KEY in written and _VALUE in written and not any(text in written for text in unlike):
                    return content is None, form
        return False, "object"

    def knows_role(self, role: str) -> bool:
        """Returns whether a role is rendered, and differently from an unknown one."""
        written, made_up = (self.write([_system("", name), _user()]) for name in (role, _MADE_UP))
        return written is not None and _SYSTEM in written and written != (made_up or "").replace(_MADE_UP, role)

    def shows_reasoning(
        self, key: str, calling_turns: Sequence[Mapping[str, Any]], switches: Mapping[str, Any]
    ) -> bool:
        """Returns whether a turn's reasoning is shown, at least while its calls are answered or thinking is enabled."""
        *before, calling = calling_turns
        spoken = [_user(), {**_answer(), key: _REASON}, _user(_LATER)]
        answered = [*before, {**calling, key: _REASON}, _result()]
        return any(self.shows(turns, _REASON, **on) for turns in (spoken, answered) for on in ({}, switches))

    def needs_names(self, calling_turns: Sequence[Mapping[str, Any]]) -> bool:
        """Returns whether a tool's message must have its name: the name is rendered, but not taken from the calls."""
        result = _result()
        del result["name"]
        before, after = (self.write(turns, _OTHER_TOOLS) or "" for turns in (calling_turns, [*calling_turns, result]))
        is_known = after.count(_FIRST) > before.count(_FIRST)
        return not is_known and self.shows([*calling_turns, {**result, "name": _LATER}], _LATER)

    def depends_on(self, variable: str) -> bool:
        """Returns whether a variable changes the prompt."""
        written = (self.write([_user()], **{variable: value}) for value in _SETTINGS)
        return len({self.write([_user()]), *written} - {None}) > 1

    def shows_images(self) -> bool:
        """Returns whether an image among the parts of a content is shown."""
        text = {"type": "text", "text": _USER}
        with_image, without = (
            self.write([{"role": "user", "content": parts}]) for parts in ([{"type": "image"}, text], [text])
        )
        shown = with_image is not None and _USER in with_image and with_image != without
        written_out = any(word in (with_image or "") for word in ("'image'", '"image"'))  # the list is printed as it is
        return shown and not written_out

    def _fitted(self, message: Mapping[str, Any]) -> dict[str, Any]:
        content = message["content"]
        parts = self._content == "parts" and isinstance(content, str)
        return {**message, "content": [{"type": "text", "text": content}] if parts else content}


def _user(text: str = _USER) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _answer() -> dict[str, Any]:
    return {"role": "assistant", "content": _ANSWER}


def _system(more: str = "", role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": _SYSTEM + more}


def _call(name: str = _FIRST, id: str = _ID, arguments: str | None = None) -> dict[str, Any]:
    value = {_KEY: _VALUE} if arguments is None else arguments
    return {"id": id, "type": "function", "function": {"name": name, "arguments": value}}


def _calling_turns(*calls: Mapping[str, Any], content: str | None = "") -> list[dict[str, Any]]:
    return [_user(), {"role": "assistant", "content": content, "tool_calls": list(calls)}]


def _result(id: str = _ID) -> dict[str, Any]:
    return {"role": "tool", "content": _RESULT, "tool_call_id": id, "name": _FIRST}


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"ppplace": {"type": "string", "description": "A place."}}}
    return {"type": "function", "function": {"name": name, "description": "It does.", "parameters": parameters}}


_TOOLS = [_tool(_FIRST), _tool(_SECOND)]

_OTHER_TOOLS = [_tool(_OTHER)]

_SYSTEMS = [_system(), _system("1"), _user(), _answer(), _system("2"), _user()]
