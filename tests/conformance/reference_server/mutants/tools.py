"""Calls of tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output, Piece, Reason, Segment
from reference_server.http import Call
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.tools import Offer, Tools
from specvino.generated.errors import ErrorCode

CALLS = {"chat/tools/*", "chat/tool_streams/*", "responses/*"}
"""The cases in which something is called."""

FAILS = {"*", "*/rules/no-server-error", "*/rules/error-envelope"}
"""What a server breaks that fails."""

JUDGED = {"chat/rules/arguments-valid", "responses/rules/arguments-valid"}


# Whether and what is called


class CallsAsText(Generation):
    """A call stays in the text as the model wrote it."""

    breaks = {"chat/capabilities/tools", "chat/capabilities/tools-named", "chat/capabilities/tools-allowed"}

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            yield Segment("text", f"<tool_call>{part.name}{part.text}</tool_call>")


class EmptyCalls(Chat):
    """Where nothing is called there is an empty list of calls."""

    breaks = {"chat/rules/no-empty-calls"}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {"tool_calls": [], **super().chat_message(asked, output)}


class FailsWithoutChoice(Tools):
    """Tools that needn't be called are too much for the server."""

    breaks = {"chat/capabilities/tools-auto"}

    def offer(self, body: Mapping[str, Any]) -> Offer:
        if body.get("tools") and body.get("tool_choice", "auto") == "auto":
            raise RuntimeError
        return super().offer(body)


class CallsTheFirst(Tools):
    """The name in tool_choice is not read: the first tool is called."""

    breaks = {
        "chat/tools/named",
        "chat/tools/named-flat",
        "chat/tools/named-among-many",
        "chat/tools/allowed",
        "chat/tools/unknown-name",
    }
    faults = 2

    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        mode, _, param = super().choice(choice)
        return mode, None, param


class CallsThoughNone(Tools):
    """tool_choice none is read as auto."""

    breaks = {"chat/tools/none", "chat/tool_streams/none", "responses/tools/none"}

    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        return super().choice("auto" if choice == "none" else choice)


class AnotherReason(Chat):
    """finish_reason is another vendor's word where the model calls of itself."""

    breaks = {"chat/tools/auto", "chat/tools/auto-is-the-default"}

    def chat_reason(self, asked: Asked, output: Output) -> str:
        return "tool_use" if output.calls and not asked.offer.forced else super().chat_reason(asked, output)


class AlwaysSeveral(Tools):
    """parallel_tool_calls is not read."""

    breaks = {"chat/tools/one-at-a-time", "chat/tool_streams/one-at-a-time", "responses/tools/one-at-a-time"}
    faults = 2

    def several(self, body: Mapping[str, Any]) -> bool:
        return True


class OneChoiceCalls(Chat):
    """Of several choices with calls the first one comes only."""

    breaks = {"chat/tools/several-choices"}

    def chat_choices(self, asked: Asked, outputs: Sequence[Output]) -> list[dict[str, Any]]:
        return super().chat_choices(asked, outputs[:1] if outputs[0].calls else outputs)


class TextBesideCalls(Chat):
    """Beside calls the content is an empty text, which clients show as an answer."""

    breaks = {"chat/tools/content-is-null"}

    def chat_text(self, output: Output) -> str | None:
        return output.joined("text")


class OneCallId(Generation):
    """All calls have one id."""

    breaks = {"chat/tools/ids-are-unique", "chat/rules/call-ids-unique", "responses/rules/call-ids-unique"}

    def call_id(self) -> str:
        return "call_0"


class ReasonOfCalls(Generation):
    """What the limit cut off ends by tool_calls all the same."""

    breaks = {"chat/tools/cut-off", "chat/tools/cut-off-named", "chat/tool_streams/cut-off"}

    def reason(self, *, cut: bool, calls: int) -> Reason:
        return "tool_calls" if calls else super().reason(cut=cut, calls=calls)


class ShortNames(Generation):
    """Names are cut to 32 characters."""

    breaks = {"chat/tools/name-is-kept"}

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            yield replace(part, name=part.name[:32])


# The arguments


class EncodesTwice(Generation):
    """The arguments are a JSON text that holds a JSON text."""

    breaks = {"chat/tools/required", "chat/tool_streams/named", "chat/tool_streams/arguments"}

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            yield replace(part, text=json.dumps(part.text))


class NothingForNothing(Generation):
    """A call without arguments has the empty text for them."""

    breaks = {"chat/tools/arguments-none", "chat/tools/arguments-empty", "chat/tool_streams/arguments-none"}

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            yield replace(part, text="" if part.text == "{}" else part.text)


class EmptyInside(Generation):
    """Only the outermost object of the arguments is held to its schema."""

    breaks = {"chat/tools/arguments-nested", "chat/tools/arguments-pydantic"}

    def arguments(self, function: Mapping[str, Any]) -> dict[str, Any]:
        return {name: {} if isinstance(value, dict) else value for name, value in super().arguments(function).items()}


class AnyNumber(Generation):
    """Bounds are not held: of numbers, and of how many items a list has."""

    breaks = {"chat/tools/arguments-bounded", "chat/tools/arguments-array"}

    def arguments(self, function: Mapping[str, Any]) -> dict[str, Any]:
        far: dict[type, Any] = {int: 1000, list: []}
        return {name: far.get(type(value), value) for name, value in super().arguments(function).items()}


class AsciiArguments(Generation):
    """Other characters than ASCII become question marks in arguments."""

    breaks = {"chat/tools/arguments-unicode", "chat/tool_streams/arguments-unicode"}

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            yield replace(part, text=part.text.encode("ascii", "replace").decode())


# The history


class DemandsText(Chat):
    """A message must have a text, also beside its calls."""

    breaks = {"chat/tools/whole-turn"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        if message.get("content") is None:
            raise Refusal(ErrorCode.INVALID_TYPE, "A message needs content.", f"{param}.content")
        return super().turn(message, param)


class CallsOrText(Chat):
    """A message with calls must not have a text."""

    breaks = {"chat/tools/content-beside-calls"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        if message.get("content") and message.get("tool_calls"):
            raise Refusal(ErrorCode.INVALID_VALUE, "Text or calls, not both.", f"{param}.content")
        return super().turn(message, param)


class ResultsAreTexts(Chat):
    """A tool's result must be a text, and no list of parts."""

    breaks = {"chat/tools/result-in-parts"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        if message["role"] == "tool" and not isinstance(message.get("content"), str):
            raise RuntimeError
        return super().turn(message, param)


class ResultsOfNoCall(Requests):
    """A tool's result needs no id."""

    breaks = {"chat/tools/result-without-id"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if component == "CreateChatCompletionRequest" and isinstance(call.body, dict):
            messages = call.body.get("messages")
            for message in messages if isinstance(messages, list) else ():
                if isinstance(message, dict) and message.get("role") == "tool":
                    message.setdefault("tool_call_id", "")
        return super().accepted(call, component)


class ForgetsResults(Chat):
    """A tool's result never reaches the prompt."""

    breaks = {"chat/tools/result-is-read"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        role, text = super().turn(message, param)
        return role, "" if role == "tool" else text


class ParsesHistory(Chat):
    """Arguments in the history are parsed, whatever they are."""

    breaks = {"chat/tools/history-with-broken-arguments", "chat/rules/no-server-error"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        for called in message.get("tool_calls") or ():
            json.loads(called["function"]["arguments"])
        return super().turn(message, param)


# What is refused


class UnknownNamesNothing(Tools):
    """A tool_choice that names no tool is ignored."""

    breaks = {"chat/tools/unknown-name"}

    def refuse_unknown(self, name: str, param: str) -> None:
        pass


class RequiresNothing(Tools):
    """A call that is required where there are no tools is nothing."""

    breaks = {"chat/tools/choice-without-tools"}

    def chosen(
        self,
        functions: Sequence[Mapping[str, Any]],
        mode: str,
        names: list[str] | None,
        param: str,
        *,
        several: bool,
        legacy: bool = False,
    ) -> Offer:
        mode = mode if functions else "none"
        return super().chosen(functions, mode, names, param, several=several, legacy=legacy)


class FailsOnNoTools(Tools):
    """An empty list of tools makes the server fail."""

    breaks = {"chat/tools/no-tools-at-all"}

    def offer(self, body: Mapping[str, Any]) -> Offer:
        if body.get("tools") == []:
            raise RuntimeError
        return super().offer(body)


class RefusesNull(Requests):
    """Null for a field isn't the same as none."""

    breaks = {"chat/tools/null-is-absent", "chat/structured_output/null-is-absent"}

    def given(self, body: dict[str, Any]) -> dict[str, Any]:
        for name, value in body.items():
            if value is None:
                raise Refusal(ErrorCode.INVALID_TYPE, f"{name} is null.", name)
        return super().given(body)


class NamesNoFieldOfTools(Requests):
    """Refusals don't say which field is wrong."""

    breaks = {
        "chat/tools/tools-are-no-list",
        "chat/tools/function-without-name",
        "chat/tools/parameters-are-no-object",
        "chat/tools/choice-is-unknown",
        "chat/structured_output/schema-is-no-object",
        "chat/structured_output/without-schema",
        "chat/structured_output/unknown-type",
        "chat/structured_output/format-is-no-object",
        "chat/logprobs/wrong-type",
        "chat/logprobs/top-is-negative",
        "completions/logprobs/wrong-type",
        "completions/logprobs/negative",
    }

    def param(self, error: Any) -> str | None:
        path = super().param(error) or ""
        return None if path.startswith(("tool", "response_format", "logprobs", "top_logprobs")) else path


class FailsOnBadSchemas(Generation):
    """A schema that is none makes the server fail."""

    breaks = {"chat/tools/parameters-are-no-schema", "chat/structured_output/invalid-schema"}

    def satisfied(self, schema: Any, param: str) -> Any:
        try:
            return super().satisfied(schema, param)
        except Refusal:
            raise RuntimeError from None


# Streams


class RepeatsIds(Chat):
    """Every delta of a call has an id, so that clients join it to a long one."""

    breaks = {"chat/tool_streams/deltas"}

    def call_delta(self, piece: Piece) -> dict[str, Any]:
        return {"id": "call_0", "type": "function", **super().call_delta(piece)}


class EmptyNames(Chat):
    """The later deltas of a call have an empty name."""

    breaks = {"chat/tool_streams/deltas"}

    def function_delta(self, piece: Piece) -> dict[str, Any]:
        return {"name": "", **super().function_delta(piece)}


class CountsFromOne(Chat):
    """The first call of a stream is number 1."""

    breaks = {"chat/tool_streams/indexes", "chat/tool_streams/several-choices"}

    def call_delta(self, piece: Piece) -> dict[str, Any]:
        return {**super().call_delta(piece), "index": piece.call + 1}


class CallsAtOneIndex(Chat):
    """All calls of a stream are number 0."""

    breaks = {"chat/tool_streams/several"}

    def call_delta(self, piece: Piece) -> dict[str, Any]:
        return {**super().call_delta(piece), "index": 0}


class CountsOverChoices(Chat):
    """The calls of all choices of a stream are counted together."""

    breaks = {"chat/tool_streams/several-choices"}

    def steps(self, outputs: Sequence[Output]) -> Iterator[tuple[Output, Piece]]:
        before = dict(zip([output.index for output in outputs], count(), strict=False))
        for output, piece in super().steps(outputs):
            yield output, replace(piece, call=piece.call + before[output.index])


class LosesQuotes(Chat):
    """Pieces of arguments lose their quotes in streams."""

    breaks = {
        "chat/tool_streams/arguments",
        "chat/tool_streams/arguments-unicode",
        "chat/tool_streams/like-unary",
        "chat/tool_streams/like-unary-named",
    }

    def function_delta(self, piece: Piece) -> dict[str, Any]:
        return {name: text.replace('"', "") for name, text in super().function_delta(piece).items()}


class EmptyTextFirst(Chat):
    """A delta with an empty text comes before each call."""

    breaks = {"chat/tool_streams/no-empty-text"}
    faults = 2

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        if piece.id:
            yield {"content": ""}
        yield from super().deltas(asked, piece)
