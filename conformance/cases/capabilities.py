"""Capabilities, which a server may be without: each is asked for once, before the first case that needs it."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.conformance.cases import probes, stored_responses
from specvino.conformance.cases.session import Session
from specvino.conformance.dialect import Dialect

Check = Callable[[Session], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Capability:
    """Describes what a server may be without, and how to find out: `body` is sent to `endpoint`, and the server has the
    capability where the answer has something at `path`. Or `check` finds out, and raises Refused or Failed."""

    name: str
    endpoint: str
    says: str
    spec: str
    body: Mapping[str, Any] | None = None
    path: str = ""
    holds: Callable[[Any], bool] = lambda value: value is not None
    check: Check | None = None

    @property
    def rule(self) -> str:
        """Returns the id under which it is told."""
        endpoint, name = self.name.split(".", 1)
        return f"{endpoint}/capabilities/{name.replace('_', '-')}"

    def is_refused_by(self, dialect: Dialect) -> bool:
        """Tells whether a system's document, unlike the whole one, refuses what is asked."""
        return self.body is not None and dialect.alone_refuses(self.endpoint, {"model": "any", **self.body})

    @property
    def forces_call(self) -> bool:
        """Tells whether the model must call something, before which some servers let it talk."""
        return (self.body or {}).get("tool_choice", "auto") not in ("auto", "none")


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
    "required": ["city"],
    "additionalProperties": False,
}
FUNCTION = {"name": "get_weather", "description": "Tells the weather in a city.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]

# Small models would call again and again, if they could. What is said has a short answer, so that a server that lets
# the model talk first comes to the call.
FORCED = {**said("Say hello."), "tools": TOOLS, "parallel_tool_calls": False, "max_tokens": 200}
FLAT_TOOLS = [{"type": "function", **FUNCTION}]
SCHEMA = {
    "type": "object",
    "properties": {"color": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["color"],
    "additionalProperties": False,
}


def _spec(request: str, field: str) -> str:
    return f"/components/schemas/Create{request}Request/properties/{field}"


def _begins_an_object(text: Any) -> bool:
    """Tells whether a text begins as a JSON object: small models may not come to the end of one."""
    return isinstance(text, str) and text.lstrip().startswith("{")


def _is_json(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def _parts(items: Any) -> list[dict[str, Any]]:
    """Returns the parts of a response's messages."""
    messages = [item for item in items if item.get("type") == "message"] if isinstance(items, list) else []
    return [part for item in messages for part in item.get("content") or ()]


def _says_json(items: Any) -> bool:
    return _is_json("".join(part.get("text") or "" for part in _parts(items)))


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
            _spec("ChatCompletion", "tool_choice"),
            {**FORCED, "tool_choice": "required"},
            "choices.0.message.tool_calls.0.function.name",
        ),
        Capability(
            "chat.tools_auto",
            "chat",
            "tool_choice auto leaves it to the model whether it calls a tool.",
            _spec("ChatCompletion", "tool_choice"),
            {**said("Say hello."), "tools": TOOLS, "tool_choice": "auto", "max_tokens": 4},
            "choices.0.finish_reason",
        ),
        Capability(
            "chat.tools_named",
            "chat",
            "tool_choice makes the model call the function that it names.",
            "/components/schemas/NamedToolChoice/properties/function",
            {**FORCED, "tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
            "choices.0.message.tool_calls.0.function.name",
        ),
        Capability(
            "chat.tools_allowed",
            "chat",
            "tool_choice makes the model call one of the tools that it allows.",
            "/components/schemas/AllowedToolsChoice/properties/allowed_tools",
            {
                **FORCED,
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {
                        "mode": "required",
                        "tools": [{"type": "function", "function": {"name": "get_weather"}}],
                    },
                },
            },
            "choices.0.message.tool_calls.0.function.name",
        ),
        Capability(
            "chat.top_logprobs",
            "chat",
            "top_logprobs shows the likeliest tokens at each place.",
            _spec("ChatCompletion", "top_logprobs"),
            {**said("Say hello."), "logprobs": True, "top_logprobs": 2, "max_tokens": 4},
            "choices.0.logprobs.content.0.top_logprobs.0.logprob",
        ),
        Capability(
            "chat.json_object",
            "chat",
            "response_format json_object makes the answer a JSON object.",
            "/components/schemas/CreateChatCompletionRequest/properties/response_format",
            {**said("Give me a short JSON object."), "response_format": {"type": "json_object"}, "max_tokens": 16},
            "choices.0.message.content",
            _begins_an_object,
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
            "/components/schemas/CompletionLogprobs/properties/token_logprobs",
            {"prompt": "The sky is", "logprobs": 1, "max_tokens": 4},
            "choices.0.logprobs.token_logprobs",
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
            "completions.echo_logprobs",
            "completions",
            "echo with logprobs gives those of the prompt's tokens, too.",
            _spec("Completion", "echo"),
            {"prompt": "The sky is", "echo": True, "logprobs": 1, "max_tokens": 4},
            "choices.0.logprobs.token_logprobs",
            lambda values: bool(values) and values[0] is None,
        ),
        Capability(
            "completions.echo_alone",
            "completions",
            "echo with max_tokens 0 only repeats the prompt.",
            _spec("Completion", "echo"),
            {"prompt": "The sky is", "echo": True, "max_tokens": 0},
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
            _spec("Response", "tool_choice"),
            {
                "input": "Say hello.",
                "tools": FLAT_TOOLS,
                "tool_choice": "required",
                "parallel_tool_calls": False,
                "temperature": 0,
                "max_output_tokens": 200,
                "store": False,
            },
            "output",
            lambda items: isinstance(items, list) and any(item.get("type") == "function_call" for item in items),
        ),
        Capability(
            "responses.json_object",
            "responses",
            "text.format json_object makes the answer a JSON object.",
            _spec("Response", "text"),
            {
                "input": 'Answer with the JSON object {"ok": true} and nothing else.',
                "text": {"format": {"type": "json_object"}},
                "temperature": 0,
                "max_output_tokens": 100,
                "store": False,
            },
            "output",
            _says_json,
        ),
        Capability(
            "responses.logprobs",
            "responses",
            "include gives the probabilities of tokens.",
            _spec("Response", "include"),
            {
                "input": "Say hello.",
                "include": ["message.output_text.logprobs"],
                "max_output_tokens": 16,
                "store": False,
            },
            "output",
            lambda items: any(part.get("logprobs") for part in _parts(items)),
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
            "output",
            _says_json,
        ),
        Capability(
            "responses.store",
            "responses",
            "store keeps a response, so that it can be read.",
            _spec("Response", "store"),
            check=stored_responses.keeps,
        ),
        Capability(
            "responses.deletion",
            "responses",
            "A stored response can be deleted.",
            "/paths/~1responses~1{response_id}/delete",
            check=stored_responses.deletes,
        ),
        Capability(
            "responses.input_items",
            "responses",
            "What a stored response answers can be listed.",
            "/paths/~1responses~1{response_id}~1input_items/get",
            check=stored_responses.lists_items,
        ),
        Capability(
            "responses.previous",
            "responses",
            "previous_response_id continues a stored response.",
            _spec("Response", "previous_response_id"),
            check=stored_responses.continues,
        ),
        Capability(
            "responses.background",
            "responses",
            "background answers at once, and fills the response later.",
            _spec("Response", "background"),
            check=stored_responses.works_behind,
        ),
        Capability(
            "responses.resume",
            "responses",
            "The events of a stream in the background can be read again.",
            "/paths/~1responses~1{response_id}/get/parameters/0",
            check=stored_responses.resumes,
        ),
        Capability(
            "completions.n",
            "completions",
            "n gives several choices.",
            _spec("Completion", "n"),
            {"prompt": "The sky is", "n": 2, "max_tokens": 4},
            "choices.1",
        ),
        Capability(
            "completions.best_of",
            "completions",
            "best_of looks for the best of several texts.",
            _spec("Completion", "best_of"),
            {"prompt": "The sky is", "best_of": 2, "max_tokens": 4},
            "choices.0.text",
        ),
        Capability(
            "completions.prompts",
            "completions",
            "Several prompts are answered at once.",
            "/components/schemas/Prompt/anyOf/1",
            {"prompt": ["The sky is", "One and one is"], "max_tokens": 4},
            "choices.1.text",
        ),
        Capability(
            "completions.tokens",
            "completions",
            "A prompt may be token ids.",
            "/components/schemas/Prompt/anyOf/2",
            {"prompt": [40, 41, 42], "max_tokens": 4},
            "choices.0.text",
        ),
        Capability(
            "models.list",
            "models",
            "There is a list of models.",
            "/paths/~1models/get",
            check=probes.lists_models,
        ),
        Capability(
            "transport.auth",
            "transport",
            "A key is needed.",
            "/components/securitySchemes/BearerAuth",
            check=probes.auth,
        ),
        Capability(
            "transport.cors",
            "transport",
            "Web pages of another origin may use the server.",
            "/paths/~1chat~1completions/post",
            check=probes.cors,
        ),
        Capability(
            "transport.request_id",
            "transport",
            "Each answer has an id by which a log can be searched.",
            "/components/headers/RequestId",
            check=probes.request_id,
        ),
        Capability(
            "tokenize.endpoint",
            "tokenize",
            "There is a way to tokenize.",
            "/paths/~1tokenize/post",
            {"text": "The sky is blue."},
            "tokens.0",
        ),
        Capability(
            "detokenize.endpoint",
            "detokenize",
            "There is a way back from tokens.",
            "/paths/~1detokenize/post",
            {"tokens": [1]},
        ),
    )
}
