"""Rules for tool calls: names, arguments, and empty lists."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.rules.endings import used_up
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.verdict import Advice
from specvino.document.validator import Validator

UNRELIABLE_CALLS = Advice(
    "Clients execute calls. By OpenAI's document, models may call unknown tools or generate invalid JSON.",
    "/components/schemas/ChatToolCall/properties/function",
)


class ArgumentsValid(Rule):
    name = "arguments-valid"
    says = "A call names a tool of the request; its arguments are a JSON object, valid by the schema of a strict tool."
    specs: ClassVar = {
        "chat": "/components/schemas/CreateChatCompletionRequest/properties/tools",
        "responses": "/components/schemas/CreateResponseRequest/properties/tools",
        "messages": "/components/schemas/CreateMessageRequest/properties/tools",
        "ollama_chat": "/components/schemas/OllamaChatRequest/properties/tools",
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and bool(_functions(exchange.request))

    def advice(self, endpoint: str) -> Advice | None:
        """Returns advice if the dialect doesn't guarantee valid calls."""
        return None if self.dialect.has_reliable_calls else UNRELIABLE_CALLS

    def violations(self, exchange: Exchange) -> Iterator[str]:
        tools = _functions(exchange.request)
        continued = any(map(exchange.request.asked, ("previous_response_id", "conversation")))
        # Forced calls must be valid where the dialect has reliable calls; those of strict tools everywhere.
        is_forced = self.dialect.has_reliable_calls and _forced(exchange.request.asked("tool_choice"))
        for output in outputs(exchange):
            for name, arguments in output.calls:
                if name not in tools:
                    # It may be in an earlier item, or stand for a tool without a name.
                    if not continued and None not in tools:
                        yield f"{name!r} is called, which isn't one of {', '.join(map(repr, tools))}"
                    continue
                if output.reason == "length":
                    continue  # truncated
                try:
                    # Some systems send the object instead of a string.
                    value = arguments if isinstance(arguments, dict) else json.loads(arguments)
                except (TypeError, ValueError):
                    if used_up(exchange):
                        continue  # truncated; a case reports the wrong finish_reason
                    yield f"the arguments of {name!r} aren't JSON: {str(arguments)[:120]!r}"
                    continue
                if not isinstance(value, dict):
                    yield f"the arguments of {name!r} aren't an object: {arguments[:120]!r}"
                    continue
                binding = [tool for tool in tools[name] if is_forced or tool.get("strict")]
                if len(binding) < len(tools[name]):
                    continue  # one of several namespaces allows all arguments
                schemas = [tool.get("parameters") or tool.get("input_schema") or {} for tool in binding]
                violations = [next(Validator(schema).violations(value), None) for schema in schemas]
                if all(violations):
                    yield f"the arguments of {name!r} violate its schema: {violations[0]}"


class NoEmptyCalls(Rule):
    name = "no-empty-calls"
    says = "Without tool calls, tool_calls is absent or null, not an empty list."
    specs: ClassVar = {"chat": "/components/schemas/ChatMessage/properties/tool_calls"}
    advised: ClassVar = {
        "": Advice(
            "Clients read the first call of the list, and OpenAI's server refuses an empty list in the history.",
            "https://github.com/vllm-project/vllm/pull/44105",
        )
    }

    def concerns(self, endpoint: str) -> bool:
        # A document that requires tool_calls in every message allows empty lists.
        return endpoint in self.specs and not self.dialect.requires("ChatMessage", "tool_calls")

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and self.concerns(endpoint_of(exchange))

    def violations(self, exchange: Exchange) -> Iterator[str]:
        for holder in exchange.chunks if exchange.is_stream else (exchange.answer,):
            for choice in holder.get("choices") or ():
                message = choice["delta" if exchange.is_stream else "message"]
                if message.get("tool_calls") == []:
                    yield f"tool_calls of choice {choice['index']} is an empty list"
                    return  # later ones mostly have the same fault


def _forced(choice: Any) -> bool:
    """Returns whether a tool_choice requires a call."""
    if isinstance(choice, dict):
        if choice.get("type") in ("auto", "none"):
            return False
        allowed = choice.get("allowed_tools", choice)
        return not isinstance(allowed, dict) or allowed.get("mode") != "auto"
    return bool(choice == "required")


def _functions(request: Request) -> dict[Any, list[dict[str, Any]]]:
    """Returns the functions of a request by name, also those of namespaces, which may share a name, and of items."""
    items = request.asked("input")
    offered = [request.asked("tools", [])]
    offered += [item.get("tools") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    functions: dict[Any, list[dict[str, Any]]] = {}
    for tools in offered:
        for tool in _flat(tools):
            functions.setdefault(tool.get("name"), []).append(tool)
    return functions


def _flat(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            yield from _flat(tool.get("tools"))
        elif isinstance(tool, dict):
            yield tool.get("function", tool)
