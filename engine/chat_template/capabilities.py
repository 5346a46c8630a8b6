"""What a chat template can, read off what it writes: probes are rendered, and no word of the template is looked for.

A template shows something if a text that only stands there is in the prompt.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from specvino.engine.chat_template.template import Template, TemplateRefusal

REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""What templates call the reasoning of an earlier turn, the commonest first."""

# Variables by which templates are told whether and how much to think, and values of which some template heeds one.
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

# Mistral's templates want nine letters and digits.
_ID, _OTHER_ID = "call00001", "call00002"
_LONG_ID = "call_0123456789abcdef01234567"

_AS_TEXT, _NO_OBJECT = json.dumps({_KEY: _VALUE}), "nnno object"
_FORMS: tuple[tuple[Literal["object", "text"], str | None], ...] = (("object", None), ("text", _AS_TEXT))

# The tool beside calls: its name mustn't be taken for that of a call.
_OTHER = "ooother"

# A role that no template knows: those that write it write any role.
_MADE_UP = "mmmadeup"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Says what a chat template shows, and in which form it wants it.

    `content` is what a message's content has to be: a text, or a list of parts. `system` is the system role at the
    beginning, `late_system` also elsewhere and several times; `developer` is a role that it tells from an unknown one.
    `calls` are those of earlier turns, `parallel_calls` several in one turn, `calls_beside_content` those of a turn
    that has content, `content_beside_calls` their content. `null_content` says that calls are shown only of turns whose
    content is null. `arguments` is what those of a call have to be; `text_arguments` says that a text is shown as it
    is, also where objects are wanted. `short_ids` says that ids of calls must be nine letters and digits. `results` are
    the messages of tools; `result_ids` says that it shows their ids, `result_names` that it knows the tool by the
    message's own name alone. `reasoning` is the key under which a turn has its reasoning, None where it is never shown.
    `thinking` are the variables that change what is thought. `consecutive` says that two users' messages may follow
    each other. `images` are parts of their own in a content.
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
    """Returns what a template can."""
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
    asked = _asked(one, content=empty)
    switches = {name: True for name in _SWITCHES if probe.heeds(name)}
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
        results=probe.shows([*asked, _result()], _RESULT),
        result_ids=probe.shows([*asked, _result(_OTHER_ID)], _OTHER_ID),
        result_names=probe.wants_names(asked),
        reasoning=next((key for key in REASONING_KEYS if probe.shows_reasoning(key, asked, switches)), None),
        thinking=frozenset(switches),
        consecutive=probe.shows([_user(), _user(_LATER)], _USER, _LATER),
        images=probe.shows_images(),
    )


class _Probe:
    """Renders messages, whose contents become what the template wants."""

    def __init__(self, template: Template, content: Literal["text", "parts"]) -> None:
        self._template = template
        self._content = content

    def write(self, messages: Sequence[Mapping[str, Any]], tools: Any = None, **variables: Any) -> str | None:
        """Returns the prompt, None where the template refuses."""
        fitted = [self._fitted(message) for message in messages]
        try:
            return self._template.render(fitted, tools, variables=variables)
        except TemplateRefusal:
            return None

    def shows(self, messages: Sequence[Mapping[str, Any]], *texts: str, tools: Any = None, **variables: Any) -> bool:
        """Tells whether all these texts come into the prompt."""
        called = any("tool_calls" in message for message in messages)  # which may depend on there being tools
        written = self.write(messages, tools or (_OTHER_TOOLS if called else None), **variables)
        if written is None and not tools and not called:  # the template may be for conversations with tools alone
            written = self.write(messages, _OTHER_TOOLS, **variables)
        return written is not None and all(text in written for text in texts)

    def write_calls(self, *calls: Mapping[str, Any], content: str | None) -> str:
        """Returns a prompt with these calls and their results, or without results where the template takes none."""
        asked = _asked(*calls, content=content)
        results = [{**_result(call["id"]), "name": _OTHER} for call in calls]
        return self.write([*asked, *results], _OTHER_TOOLS) or self.write(asked, _OTHER_TOOLS) or ""

    def form_of_calls(self) -> tuple[bool, Literal["object", "text"]]:
        """Tells whether the content beside calls has to be null, and what their arguments have to be: they are shown
        as a model would write them, neither in Python's words nor as a text within JSON."""
        unlike = (f"'{_KEY}': ", f'\\"{_KEY}\\"')
        for content in ("", None):
            for form, given in _FORMS:
                written = self.write_calls(_call(arguments=given), content=content)
                if _KEY in written and _VALUE in written and not any(each in written for each in unlike):
                    return content is None, form
        return False, "object"

    def knows_role(self, role: str) -> bool:
        """Tells whether the role is shown, and otherwise than one that nobody knows."""
        written, made_up = (self.write([_system("", name), _user()]) for name in (role, _MADE_UP))
        return written is not None and _SYSTEM in written and written != (made_up or "").replace(_MADE_UP, role)

    def shows_reasoning(self, key: str, asked: Sequence[Mapping[str, Any]], switches: Mapping[str, Any]) -> bool:
        """Tells whether a turn's reasoning is shown, at least while its calls are answered or thinking is on."""
        *before, calling = asked
        spoken = [_user(), {**_answer(), key: _REASON}, _user(_LATER)]
        answered = [*before, {**calling, key: _REASON}, _result()]
        return any(self.shows(each, _REASON, **on) for each in (spoken, answered) for on in ({}, switches))

    def wants_names(self, asked: Sequence[Mapping[str, Any]]) -> bool:
        """Tells whether the message of a tool has to name it: it is shown, and not found among the calls."""
        result = _result()
        del result["name"]
        before, behind = (self.write(each, _OTHER_TOOLS) or "" for each in (asked, [*asked, result]))
        found = behind.count(_FIRST) > before.count(_FIRST)
        return not found and self.shows([*asked, {**result, "name": _LATER}], _LATER)

    def heeds(self, variable: str) -> bool:
        """Tells whether a variable changes the prompt."""
        written = (self.write([_user()], **{variable: value}) for value in _SETTINGS)
        return len({self.write([_user()]), *written} - {None}) > 1

    def shows_images(self) -> bool:
        """Tells whether an image is shown where it stands among the parts of a content."""
        text = {"type": "text", "text": _USER}
        with_image, without = (
            self.write([{"role": "user", "content": parts}]) for parts in ([{"type": "image"}, text], [text])
        )
        shown = with_image is not None and _USER in with_image and with_image != without
        written_out = any(word in (with_image or "") for word in ("'image'", '"image"'))  # the list as it is
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
    given = {_KEY: _VALUE} if arguments is None else arguments
    return {"id": id, "type": "function", "function": {"name": name, "arguments": given}}


def _asked(*calls: Mapping[str, Any], content: str | None = "") -> list[dict[str, Any]]:
    return [_user(), {"role": "assistant", "content": content, "tool_calls": list(calls)}]


def _result(id: str = _ID) -> dict[str, Any]:
    return {"role": "tool", "content": _RESULT, "tool_call_id": id, "name": _FIRST}


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"ppplace": {"type": "string", "description": "A place."}}}
    return {"type": "function", "function": {"name": name, "description": "It does.", "parameters": parameters}}


_TOOLS = [_tool(_FIRST), _tool(_SECOND)]

_OTHER_TOOLS = [_tool(_OTHER)]

_SYSTEMS = [_system(), _system("1"), _user(), _answer(), _system("2"), _user()]
