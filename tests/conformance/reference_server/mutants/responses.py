"""Responses that are read, counted, or said wrongly."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import NO_FORM, Asked, Generation, Output
from reference_server.http import Call, Http
from reference_server.items import Item, Items
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.responses import Response, Responses
from reference_server.tools import Offer, Tools
from reference_server.words import Token
from specvino.generated.errors import ErrorCode

SHAPES = {"response*/rules/*-shape"}
"""What an answer of a wrong form may break, too."""


class NoOutput(Responses):
    """A response's output stays empty."""

    breaks = {"responses/capabilities/endpoint"}

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        return {**super().response(asked, begun, output, items), "output": []}


class PartsOfChat(Responses):
    """The parts of a message are of the type text, as chat has it."""

    breaks = {"responses/basics/answers"}
    faults = 2

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        named = [
            {**item, "content": [{**part, "type": "text"} for part in item["content"]]}
            if item["type"] == "message"
            else item
            for item in items
        ]
        return super().response(asked, begun, output, named)


class AnyModel(Models):
    """The served model answers for any other."""

    breaks = {"responses/basics/model-is-unknown"}

    def require_model(self, name: str) -> None:
        return


class AcceptsAnything(Requests):
    """Requests are not judged, so that what can't be understood is left out, or breaks something later."""

    breaks = {
        "responses/background/not-kept",
        "responses/basics/input-is-missing",
        "responses/basics/model-is-missing",
        "responses/events/refused-before",
        "responses/refusals/format-without-schema",
        "responses/refusals/input-is-a-number",
        "responses/refusals/limit-is-a-text",
        "responses/refusals/limit-is-negative",
        "responses/refusals/metadata-is-a-list",
        "responses/refusals/names-the-field",
        "responses/refusals/part-without-text",
        "responses/refusals/role-is-unknown",
        "responses/refusals/stream-is-a-number",
        "responses/refusals/temperature-is-negative",
        "responses/refusals/tools-are-an-object",
        "responses/refusals/top-p-is-too-large",
        "responses/tools/without-name",
    }
    faults = 2

    def violations(self, component: str, body: Any) -> Iterator[Any]:
        yield from ()


class LeavesOutUnknown(Requests):
    """Parts and forms of unknown types are left out without a word."""

    breaks = {"responses/refusals/part-is-unknown", "responses/refusals/format-is-unknown"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = json.loads(json.dumps(call.body))
        if component == "CreateResponseRequest" and isinstance(body, dict):
            if (body.get("text") or {}).get("format", {}).get("type") == "xml":
                body["text"] = {}
            for item in body["input"] if isinstance(body.get("input"), list) else ():
                if isinstance(item.get("content"), list):
                    known = [part for part in item["content"] if part.get("type") != "input_smell"]
                    item["content"] = known or ""
        call.body = body
        return super().accepted(call, component)


class NamesNoField(Requests):
    """Errors don't say which field is wrong."""

    breaks = {
        "completions/prompts/wrong-type-is-named",
        "chat/types/param-names-the-field",
        "responses/refusals/names-the-field",
        "tokenize/lists/none",
    }

    def param(self, error: Any) -> str | None:
        return None


class UsageOfChat(Responses):
    """Usage has the names that chat gives it."""

    breaks = {"responses/basics/usage-names"}

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        usage = super().response_usage(asked, output)
        return {**usage, "prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}


class Milliseconds(Http):
    """Times are in milliseconds."""

    breaks = {"responses/basics/times"}

    def now(self) -> int:
        return super().now() * 1000


class LimitOfChat(Responses):
    """What the limit cut off says length for a reason, as chat does."""

    breaks = {"responses/basics/cut-off"}

    def incomplete_details(self) -> dict[str, str]:
        return {"reason": "length"}


class NeverIncomplete(Responses):
    """What the limit cut off counts as completed."""

    breaks = {"responses/basics/cut-off", "responses/basics/cut-off-item", "responses/events/cut-off"}

    def response_status(self, output: Output) -> str:
        return "completed"


class WholeItems(Items):
    """The item that the limit cut off counts as completed."""

    breaks = {"responses/basics/cut-off-item"}

    def item_status(self, output: Output, *, last: bool) -> str:
        return "completed"


class AlwaysExcused(Responses):
    """Every response says why it is incomplete, the completed ones, too."""

    breaks = {"responses/basics/whole-has-no-excuse"}

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        return {**whole, "incomplete_details": self.incomplete_details()}


class OneItemId(Items):
    """The ids of items say their kind only."""

    breaks = {"responses/basics/item-ids"}

    def item_id(self, prefix: str) -> str:
        return f"{prefix}_1"


class OneCallId(Generation):
    """All calls have one id."""

    breaks = {"responses/tools/call-ids"}

    def call_id(self) -> str:
        return "call_1"


class StreamsWhenNamed(Requests):
    """With stream in it, whatever it says, a request gets a stream."""

    breaks = {"responses/basics/stream-is-false"}

    def given(self, body: dict[str, Any]) -> dict[str, Any]:
        given = super().given(body)
        return {**given, "stream": True} if "stream" in given else given


class NullIsAValue(Requests):
    """null is no sign that a field is absent."""

    breaks = {"completions/settings/null", "responses/input/null-is-absent", "tokenize/lists/null"}
    faults = 2

    def given(self, body: dict[str, Any]) -> dict[str, Any]:
        return body


class AllIsThought(Responses):
    """All tokens count as thoughts."""

    breaks = {"responses/basics/thoughts-are-counted"}

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        usage = super().response_usage(asked, output)
        return {**usage, "output_tokens_details": {"reasoning_tokens": usage["output_tokens"]}}


class TextIsCompleted(Items):
    """An input that is a text is no user's message, but something to go on with."""

    breaks = {"responses/input/message-without-type"}

    def input_items(self, given: str | Sequence[Item]) -> list[Item]:
        return super().input_items([{"role": "assistant", "content": given}] if isinstance(given, str) else given)


class TypedIsShown(Items):
    """A message with a type is shown to the model as the JSON that it came in."""

    breaks = {"responses/input/message-with-type"}

    def whole_item(self, item: Item) -> Item:
        shown = item.get("type") == "message" and isinstance(item["content"], str)
        return super().whole_item({**item, "content": json.dumps(item)} if shown else item)


class DropsParts(Items):
    """A content that is a list is taken, and left out without a word."""

    breaks = {"responses/input/parts", "responses/input/several-parts", "responses/input/assistant-parts"}
    faults = 2

    def whole_item(self, item: Item) -> Item:
        return super().whole_item({**item, "content": []} if isinstance(item.get("content"), list) else item)


class FirstPartOnly(Items):
    """Of a content's parts the first is read only."""

    breaks = {"responses/input/several-parts"}

    def item_text(self, content: Any, param: str) -> str:
        return super().item_text(content if isinstance(content, str) else content[:1], param)


class LastTurnOnly(Items):
    """The model sees what came last only."""

    breaks = {"responses/input/history"}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        yield from [*super().item_turns(items, param)][-1:]


class NoDevelopers(Chat):
    """The model's template knows no developer, and refuses one."""

    breaks = {"responses/input/developer"}

    def role(self, role: str) -> str:
        if role == "developer":
            raise Refusal(ErrorCode.CHAT_TEMPLATE_ERROR, "There is no such role: developer.", "input")
        return super().role(role)


class SystemIsDropped(Items):
    """Only users and assistants are read."""

    breaks = {"responses/input/system", "responses/input/developer"}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        dropped = ("system", "developer")
        yield from super().item_turns([item for item in items if item.get("role") not in dropped], param)


class NoInstructions(Responses):
    """Instructions are taken, and left out without a word."""

    breaks = {"responses/input/instructions"}

    def instructed(self, body: Mapping[str, Any]) -> list[tuple[str, str]]:
        return []


class RefusesItsOwn(Items):
    """Items with a status are refused, so that the server's own can't come back."""

    breaks = {"responses/input/output-goes-back-in"}

    def whole_item(self, item: Item) -> Item:
        if "status" in item:
            raise Refusal(ErrorCode.INVALID_VALUE, "input has an unknown field: status.", "input")
        return super().whole_item(item)


class AsciiOnly(Responses):
    """What is repeated has lost all but ASCII."""

    breaks = {"responses/input/unicode"}

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        repeated = super().echo(body)
        shown: dict[str, Any] = json.loads(json.dumps(repeated, ensure_ascii=False).encode("ascii", "replace"))
        return shown


class RefusesUnknown(Requests):
    """Fields that nobody knows are refused."""

    breaks = {"responses/input/unknown-field"}

    def unsupported(self, body: Any, component: str) -> list[str]:
        for name in super().unsupported(body, component):
            raise Refusal(ErrorCode.UNKNOWN_PARAMETER, f"Unrecognized request argument supplied: {name}", name)
        return []


class RepeatsDefaults(Responses):
    """A response says the default of each setting, whatever the request was."""

    breaks = {
        "responses/echo/instructions",
        "responses/echo/limit",
        "responses/echo/max-tool-calls",
        "responses/echo/metadata",
        "responses/echo/parallel-tool-calls",
        "responses/echo/sampling",
        "responses/echo/tools",
        "responses/echo/truncation",
        "responses/forms/schema-is-repeated",
    }
    faults = 2

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return super().echo({})


class SaysStored(Responses):
    """A response says that it is stored, though it isn't."""

    breaks = {"responses/echo/not-stored"}

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {**super().begun_response(body), "store": True}


class NoFormSaid(Responses):
    """The form of a text is null unless the request has one."""

    breaks = {"responses/echo/format"}

    def echoed_text(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().echoed_text(body), "format": (body.get("text") or {}).get("format")}


class ToolsOfChat(Responses):
    """Tools are repeated in chat's nested form."""

    breaks = {"responses/echo/tools"}

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"type": "function", "function": tool} for tool in super().echoed_tools(body)]


class NoTools(Tools):
    """Tools are taken, and left out without a word."""

    breaks = {"responses/capabilities/tools"}

    def offer(self, body: Mapping[str, Any]) -> Offer:
        return Offer({})


class ArgumentsAreObjects(Responses):
    """The arguments of a call are an object instead of its text."""

    breaks = {"responses/tools/required"}

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        objects = [
            {**item, "arguments": json.loads(item["arguments"])} if item["type"] == "function_call" else item
            for item in items
        ]
        return super().response(asked, begun, output, objects)


class AnyFunction(Tools):
    """A tool_choice that names a function is read as required."""

    breaks = {"responses/tools/named", "responses/tools/named-is-unknown"}
    faults = 2

    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        return ("required", None, "tool_choice") if isinstance(choice, Mapping) else super().choice(choice)


class CallsUnread(Items):
    """Calls and their results are taken, and left out without a word."""

    breaks = {"responses/tools/answered", "responses/tools/output-in-parts"}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        read = [item for item in items if not item["type"].startswith("function_call")]
        yield from super().item_turns(read or [{"type": "message", "role": "user", "content": ""}], param)


class FormIgnored(Generation):
    """A form is taken, and left out without a word."""

    breaks = {"responses/capabilities/json-schema", "responses/capabilities/json-object"}

    def form(self, format: Mapping[str, Any] | None, param: str) -> Mapping[str, Any]:
        return NO_FORM


class ShallowForms(Generation):
    """Of an object's properties the first comes only, and nothing within it."""

    breaks = {"responses/forms/json-schema", "responses/forms/nested-schema"}

    def formed(self, form: Mapping[str, Any]) -> str:
        value = json.loads(super().formed(form))
        if not isinstance(value, dict) or not value:
            return json.dumps(value)
        name, first = next(iter(value.items()))
        return json.dumps({name: [] if isinstance(first, list) else first})


class AnySchema(Generation):
    """A schema that is none is taken for one that allows everything."""

    breaks = {"responses/forms/schema-is-none"}

    def satisfied(self, schema: Any, param: str) -> Any:
        try:
            return super().satisfied(schema, param)
        except Refusal:
            return {}


class NoProbabilities(Items):
    """Logprobs are asked for without effect."""

    breaks = {"responses/capabilities/logprobs"}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return []


class PositiveProbabilities(Chat):
    """Logprobs have lost their sign."""

    breaks = {"responses/logprobs/join"}

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        shown = super().shown_logprob(token)
        return {**shown, "logprob": -shown["logprob"]}


class OtherTokens(Items):
    """The tokens of logprobs are those of another text."""

    breaks = {"responses/logprobs/join"}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return super().output_logprobs(asked, tokens[::-1])


class MoreAlternatives(Items):
    """Three alternatives are shown, however many were asked for."""

    breaks = {"responses/logprobs/alternatives"}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return [{**logprob, "top_logprobs": [logprob] * 3} for logprob in super().output_logprobs(asked, tokens)]


class ProbabilitiesUnasked(Items):
    """Logprobs always come."""

    breaks = {"responses/logprobs/not-asked-for"}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        return [self.server.chat.token_logprob(token, asked.body.get("top_logprobs", 0)) for token in tokens]
