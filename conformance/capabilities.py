"""What a server may be without: each is asked for once, before the first case that needs it."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.conformance.exchange import Exchange, Unreadable
from specvino.conformance.expect import values_at
from specvino.conformance.session import Session
from specvino.conformance.verdict import Failed

Check = Callable[[Session], Awaitable[None]]

UNSUPPORTED = (400, 404, 405, 422, 501)
"""Statuses with which a server says properly that it can't do something."""


@dataclass(frozen=True, slots=True)
class Capability:
    """`body` is sent to `endpoint`; the server has the capability where the answer has something at `path`."""

    name: str
    endpoint: str
    says: str
    spec: str
    body: Mapping[str, Any] | None
    path: str
    holds: Callable[[Any], bool] = lambda value: value is not None


class Refused(Exception):
    """The server says properly that it hasn't the capability."""


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
FUNCTION = {"name": "get_weather", "description": "Tells the weather in a city.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]
FLAT_TOOLS = [{"type": "function", **FUNCTION}]
SCHEMA = {
    "type": "object",
    "properties": {"color": {"enum": ["red", "green", "blue"]}},
    "required": ["color"],
    "additionalProperties": False,
}

REQUESTS = "/components/schemas/Create{}Request/properties/{}"


def _spec(request: str, field: str) -> str:
    return REQUESTS.format(request, field)


def _is_json(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


CAPABILITIES: dict[str, Capability] = {
    each.name: each
    for each in (
        Capability(
            "chat.n",
            "chat",
            "n gives several choices.",
            _spec("ChatCompletion", "n"),
            {**said("Say hello."), "n": 2, "max_tokens": 4},
            "choices.1",
        ),
        Capability(
            "chat.logprobs",
            "chat",
            "logprobs gives the probabilities of tokens.",
            _spec("ChatCompletion", "logprobs"),
            {**said("Say hello."), "logprobs": True, "max_tokens": 4},
            "choices.0.logprobs.content.0.logprob",
        ),
        Capability(
            "chat.tools",
            "chat",
            "tool_choice required makes the model call a tool.",
            _spec("ChatCompletion", "tools"),
            {**said("How is the weather in Paris?"), "tools": TOOLS, "tool_choice": "required", "max_tokens": 200},
            "choices.0.message.tool_calls.0.function.name",
        ),
        Capability(
            "chat.json_object",
            "chat",
            "response_format json_object makes the answer a JSON object.",
            "/components/schemas/CreateChatCompletionRequest/properties/response_format",
            {**said("Give me a JSON object."), "response_format": {"type": "json_object"}, "max_tokens": 300},
            "choices.0.message.content",
            _is_json,
        ),
        Capability(
            "chat.json_schema",
            "chat",
            "response_format json_schema makes the answer one that fits the schema.",
            "/components/schemas/CreateChatCompletionRequest/properties/response_format",
            {
                **said("Which color has the sky? Answer with JSON."),
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
                },
                "max_tokens": 100,
            },
            "choices.0.message.content",
            _is_json,
        ),
        Capability(
            "completions.endpoint",
            "completions",
            "There are text completions.",
            "/paths/~1completions/post",
            {"prompt": "The sky is", "max_tokens": 4},
            "choices.0.text",
        ),
        Capability(
            "completions.logprobs",
            "completions",
            "logprobs gives the probabilities of tokens.",
            _spec("Completion", "logprobs"),
            {"prompt": "The sky is", "logprobs": 1, "max_tokens": 4},
            "choices.0.logprobs",
        ),
        Capability(
            "completions.echo",
            "completions",
            "echo puts the prompt before the answer.",
            _spec("Completion", "echo"),
            {"prompt": "The sky is", "echo": True, "max_tokens": 4},
            "choices.0.text",
            lambda text: isinstance(text, str) and text.startswith("The sky is"),
        ),
        Capability(
            "responses.endpoint",
            "responses",
            "There are responses.",
            "/paths/~1responses/post",
            {"input": "Say hello.", "max_output_tokens": 16, "store": False},
            "output.0",
        ),
        Capability(
            "responses.tools",
            "responses",
            "tool_choice required makes the model call a tool.",
            _spec("Response", "tools"),
            {
                "input": "How is the weather in Paris?",
                "tools": FLAT_TOOLS,
                "tool_choice": "required",
                "max_output_tokens": 200,
                "store": False,
            },
            "output",
            lambda items: any(item.get("type") == "function_call" for item in items),
        ),
        Capability(
            "responses.json_schema",
            "responses",
            "text.format json_schema makes the answer one that fits the schema.",
            _spec("Response", "text"),
            {
                "input": "Which color has the sky? Answer with JSON.",
                "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}},
                "max_output_tokens": 100,
                "store": False,
            },
            "output.0.content.0.text",
            _is_json,
        ),
        Capability(
            "responses.store",
            "responses",
            "store keeps a response, so that it can be read.",
            _spec("Response", "store"),
            {"input": "Say hello.", "max_output_tokens": 16, "store": True},
            "store",
            lambda value: value is True,
        ),
        Capability(
            "tokenize.endpoint",
            "tokenize",
            "There is a way to tokenize.",
            "/paths/~1tokenize/post",
            {"text": "The sky is blue."},
            "tokens.0",
        ),
    )
}


async def ask(session: Session, capability: Capability) -> None:
    """Raises Refused or Failed where the server hasn't the capability."""
    exchange = await session.send(capability.endpoint, capability.body)
    if exchange.status in UNSUPPORTED and exchange.error | _plain(exchange):
        raise Refused(f"the server answers {exchange.status}: {_message(exchange)}")
    if not exchange.ok:
        raise Failed(f"the server neither does it nor refuses it properly: {exchange}", exchange)
    try:
        found = values_at(exchange.answer, capability.path)
    except Unreadable as error:
        raise Failed(str(error), exchange) from None
    if not found or not capability.holds(found[0][1]):
        shown = repr(found[0][1])[:120] if found else "nothing"
        raise Failed(f"the server takes it without effect: {capability.path} is {shown}", exchange)


def _plain(exchange: Exchange) -> Mapping[str, Any]:
    """Other systems' forms of errors, which their dialects describe."""
    try:
        return exchange.json if isinstance(exchange.json, dict) else {}
    except Unreadable:
        return {}


def _message(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return message[:160] if isinstance(message, str) else exchange.content[:160].decode("utf-8", "replace")
