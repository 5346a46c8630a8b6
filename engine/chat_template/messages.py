"""Conversion of a conversation into the messages that a chat template expects: a list of plain dictionaries. All
workarounds for missing capabilities (`capabilities.py`) are in this module; `hidden` returns the parts without a
workaround.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from specvino.engine.chat_template.capabilities import REASONING_KEYS, Capabilities
from specvino.engine.grammar import LARK
from specvino.engine.request import Conversation, Message, Tool, ToolCall
from specvino.engine.segments import Hidden

Mark = Callable[[str], str]
WriteCall = Callable[[ToolCall], str]
Turn = dict[str, Any]

# Many templates assume that a tool has parameters.
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}

_BETWEEN = "\n\n"  # joins texts

_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")


def texts(prompt: Conversation) -> Iterator[str]:
    """Yields every text of a conversation that comes from the client."""
    for message in prompt.messages:
        yield message.content
        yield message.name or ""
        yield message.tool_call_id or ""
        yield message.reasoning or ""
        for call in message.tool_calls:
            yield call.id
            yield call.name
            yield call.arguments
            # Values may be escaped in the JSON text.
            yield from _strings(arguments(call))
    yield from _strings(tools(prompt, str))
    yield from _strings(variables(prompt, str))
    yield prompt.chat_template or ""


def turns(
    prompt: Conversation,
    capabilities: Capabilities,
    mark: Mark = str,
    image: Callable[[int], str] = "<image {}>".format,
    write_call: WriteCall | None = None,
) -> list[Turn]:
    """Returns the template's `messages`; `mark` is applied to every text.

    `image` returns the tag of an image by its number, in conversation order. For a template that renders no calls,
    `write_call` writes a call (with `mark` already applied) in the model's format; the default is JSON.
    """
    maker = _Maker(capabilities, mark, image, write_call or _as_json)
    single = capabilities.calls and not capabilities.parallel_calls
    messages = _one_call_each(prompt.messages) if single else prompt.messages
    converted = [maker.turn(message) for message in messages]
    if not capabilities.system:
        converted = _systems_to_user(converted)
    elif not capabilities.late_system:
        converted = _systems_to_first(converted)
    if not capabilities.consecutive:
        converted = list(_joined(converted))
    return [_fitted(turn, capabilities) for turn in converted]


def tools(prompt: Conversation, mark: Mark) -> list[dict[str, Any]]:
    """Returns the template's `tools`."""
    return [{"type": "function", "function": _marked(_function(tool), mark)} for tool in prompt.tools]


def variables(prompt: Conversation, mark: Mark) -> dict[str, Any]:
    """Returns the template's other variables."""
    values: dict[str, Any] = _marked(json.loads(prompt.variables), mark)
    return values


def arguments(call: ToolCall) -> Any:
    """Returns a call's arguments as an object, which templates format themselves, or as the text if they aren't an
    object. An empty text means no arguments.
    """
    try:
        value = json.loads(call.arguments or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return call.arguments
    return value if isinstance(value, dict) else call.arguments


class _Lack(NamedTuple):
    """A missing capability. `notice` names it with its workaround, `lacking` returns whether it is missing. `hides` is
    the part of a conversation that then isn't rendered, and `needed` returns whether a conversation has it.
    """

    notice: str
    lacking: Callable[[Capabilities], bool]
    hides: Hidden | None = None
    needed: Callable[[Conversation], bool] = bool


def hidden(capabilities: Capabilities, prompt: Conversation) -> tuple[Hidden, ...]:
    """Returns the parts of a conversation that the template doesn't render."""
    return tuple(lack.hides for lack in _LACKS if lack.hides and lack.lacking(capabilities) and lack.needed(prompt))


def missing(capabilities: Capabilities) -> tuple[str, ...]:
    """Returns notices of the template's missing capabilities, each with its workaround."""
    return tuple(lack.notice for lack in _LACKS if lack.lacking(capabilities))


class _Maker:
    """Converts messages into turns, one after the other."""

    def __init__(
        self, capabilities: Capabilities, mark: Mark, image: Callable[[int], str], write_call: WriteCall
    ) -> None:
        self._can = capabilities
        self._mark = mark
        self._image = image
        self._write_call = write_call
        self._numbers = itertools.count()
        self._unanswered: list[ToolCall] = []

    def turn(self, message: Message) -> Turn:
        role: str = message.role
        if role == "developer" and not self._can.developer:
            role = "system"
        turn: Turn = {"role": role, "content": self._content(message)}
        if message.name is not None:
            turn["name"] = self._mark(message.name)
        if role == "tool":
            return self._result(message, turn)
        if message.tool_call_id is not None:
            turn["tool_call_id"] = self._id(message.tool_call_id)
        if role == "assistant":
            self._unanswered = list(message.tool_calls)
            if message.reasoning is not None:
                turn[self._can.reasoning or REASONING_KEYS[0]] = self._mark(message.reasoning)
        if message.tool_calls:
            self._add_calls(turn, message.tool_calls)
        return turn

    def _content(self, message: Message) -> str:
        pieces: list[str] = []
        start = 0
        for placed in message.images:
            pieces += [self._mark(message.content[start : placed.at]), self._image(next(self._numbers))]
            start = placed.at
        return "".join([*pieces, self._mark(message.content[start:])])

    def _add_calls(self, turn: Turn, calls: Iterable[ToolCall]) -> None:
        marked = [self._marked(call) for call in calls]
        if self._can.calls and (self._can.calls_beside_content or not turn["content"]):
            turn["tool_calls"] = [
                {
                    "id": self._id(call.id),
                    "type": "function",
                    "function": {"name": marked_call.name, "arguments": self._arguments(marked_call)},
                }
                for call, marked_call in zip(calls, marked, strict=True)
            ]
        else:
            turn["content"] = "\n".join(filter(None, [turn["content"], *map(self._write_call, marked)]))

    def _marked(self, call: ToolCall) -> ToolCall:
        value = arguments(call)
        written = (
            self._mark(value) if isinstance(value, str) else json.dumps(_marked(value, self._mark), ensure_ascii=False)
        )
        return ToolCall(self._mark(call.id), self._mark(call.name), written)

    def _arguments(self, marked: ToolCall) -> Any:
        if self._can.arguments == "text":
            return marked.arguments
        value = arguments(marked)
        # A template that iterates over an object's members fails on a text.
        return value if isinstance(value, dict) or self._can.text_arguments else {}

    def _id(self, id: str) -> str:
        if self._can.short_ids and not _SHORT_ID.fullmatch(id):
            return hashlib.sha256(id.encode(errors="surrogatepass")).hexdigest()[:9]
        return self._mark(id)

    def _result(self, message: Message, turn: Turn) -> Turn:
        """Returns the turn of a tool's result. Without an id it belongs to the first call without a result."""
        id = message.tool_call_id
        answered = next((call for call in self._unanswered if id is None or call.id == id), None)
        if answered is not None:
            self._unanswered.remove(answered)
            id = answered.id
        if id is not None:
            turn["tool_call_id"] = self._id(id)
        name = turn.get("name") or (self._mark(answered.name) if answered else None)
        if not self._can.results:
            response = {"name": name, "content": turn["content"]}
            return {"role": "user", "content": json.dumps({"tool_response": response}, ensure_ascii=False)}
        if self._can.result_names and name is not None:
            turn["name"] = name
        return turn


def _one_call_each(messages: Iterable[Message]) -> Iterator[Message]:
    """Splits turns with several calls into a turn for each call, followed by its results."""
    waiting = list(messages)
    while waiting:
        message = waiting.pop(0)
        if len(message.tool_calls) < 2:
            yield message
            continue
        results = list(itertools.takewhile(lambda following: following.role == "tool", waiting))
        del waiting[: len(results)]
        known = {call.id for call in message.tool_calls}
        for number, call in enumerate(message.tool_calls):
            spoken = message if number == 0 else replace(message, content="", reasoning=None, images=())
            yield replace(spoken, tool_calls=(call,))
            own = [result for result in results if result.tool_call_id == call.id]
            if not own:  # a result without an id, if there is one
                own = [result for result in results if result.tool_call_id not in known][:1]
            yield from own
            results = [result for result in results if result not in own]
        yield from results


def _systems_to_user(converted: list[Turn]) -> list[Turn]:
    """Moves the texts of system messages to the beginning of the next user message."""
    kept: list[Turn] = []
    texts: list[str] = []
    for turn in converted:
        if turn["role"] == "system":
            texts.append(turn["content"])
        elif turn["role"] == "user" and texts:
            kept.append({**turn, "content": _BETWEEN.join([*texts, turn["content"]])})
            texts = []
        else:
            kept.append(turn)
    return [*kept, {"role": "user", "content": _BETWEEN.join(texts)}] if texts else kept


def _systems_to_first(converted: list[Turn]) -> list[Turn]:
    """Joins all system messages at the beginning."""
    systems = [turn for turn in converted if turn["role"] == "system"]
    if not systems:
        return converted
    first = {**systems[0], "content": _BETWEEN.join(turn["content"] for turn in systems)}
    return [first, *(turn for turn in converted if turn["role"] != "system")]


def _joined(converted: Iterable[Turn]) -> Iterator[Turn]:
    """Yields the turns with consecutive ones of the same role joined."""
    for _, group in itertools.groupby(converted, _speaker):
        first, *others = group
        yield {**first, "content": _BETWEEN.join(turn["content"] for turn in (first, *others))} if others else first


def _speaker(turn: Turn) -> object:
    """Returns the same key for turns that may be joined: those with only a text."""
    plain = turn["role"] in ("user", "assistant") and turn.keys() == {"role", "content"}
    return turn["role"] if plain else id(turn)


def _fitted(turn: Turn, capabilities: Capabilities) -> Turn:
    if capabilities.null_content and "tool_calls" in turn and not turn["content"]:
        return {**turn, "content": None}
    if capabilities.content == "parts":
        return {**turn, "content": [{"type": "text", "text": turn["content"]}]}
    return turn


def _as_json(call: ToolCall) -> str:
    return json.dumps({"name": call.name, "arguments": arguments(call)}, ensure_ascii=False)


def _function(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = _NO_PARAMETERS if tool.parameters is None else _shown(tool.parameters)
    return function


def _shown(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns parameters without Lark grammars: the tool's description has them, in a form that models read better."""
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return parameters
    shown = {name: _without_lark(schema) for name, schema in properties.items()}
    return {**parameters, "properties": shown}


def _without_lark(schema: Any) -> Any:
    return {key: value for key, value in schema.items() if key != LARK} if isinstance(schema, Mapping) else schema


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _strings(item)


def _marked(value: Any, mark: Mark) -> Any:
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, list):
        return [_marked(item, mark) for item in value]
    if isinstance(value, Mapping):
        return {mark(name): _marked(item, mark) for name, item in value.items()}
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _calls(prompt: Conversation) -> Iterator[ToolCall]:
    return itertools.chain.from_iterable(message.tool_calls for message in prompt.messages)


# No notice for developer messages: without that role they become system messages.
_LACKS = (
    _Lack("it has no system role: system messages are prepended to user messages", lambda can: not can.system),
    _Lack(
        "it renders one system message, at the beginning: all are joined there",
        lambda can: can.system and not can.late_system,
    ),
    _Lack("it renders no tools", lambda can: not can.tools, "tools", lambda prompt: bool(prompt.tools)),
    _Lack("it renders no earlier calls: they are written into the content", lambda can: not can.calls),
    _Lack(
        "it renders one call per turn: further calls become separate turns",
        lambda can: can.calls and not can.parallel_calls,
    ),
    _Lack(
        "it renders no calls next to content: they are written into it",
        lambda can: can.calls and not can.calls_beside_content,
    ),
    _Lack(
        "it renders no content next to calls",
        lambda can: can.calls and can.calls_beside_content and not can.content_beside_calls,
        "content",
        lambda prompt: any(message.tool_calls and message.content for message in prompt.messages),
    ),
    _Lack(
        "it renders only arguments that are a JSON object: others are dropped",
        lambda can: can.calls and can.arguments == "object" and not can.text_arguments,
        "arguments",
        lambda prompt: any(isinstance(arguments(call), str) for call in _calls(prompt)),
    ),
    _Lack(
        "it requires ids of nine letters and digits: others are replaced",
        lambda can: can.calls and can.short_ids,
    ),
    _Lack("it renders no tool results: they become user messages", lambda can: not can.results),
    _Lack(
        "it renders no earlier reasoning",
        lambda can: can.reasoning is None,
        "reasoning",
        lambda prompt: any(message.role == "assistant" and message.reasoning for message in prompt.messages),
    ),
    _Lack("it accepts no consecutive user messages: they are joined", lambda can: not can.consecutive),
)
