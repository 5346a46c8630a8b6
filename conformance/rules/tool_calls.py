"""Rules for tool calls: names, arguments, and empty lists."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange
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
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and bool(exchange.request.asked("tools"))

    def advice(self, endpoint: str) -> Advice | None:
        """Returns advice if the dialect doesn't guarantee valid calls."""
        return None if self.dialect.has_reliable_calls else UNRELIABLE_CALLS

    def violations(self, exchange: Exchange) -> Iterator[str]:
        tools = _functions(exchange.request.asked("tools"))
        # Forced calls must be valid where the dialect has reliable calls; those of strict tools everywhere.
        is_forced = self.dialect.has_reliable_calls and _forced(exchange.request.asked("tool_choice"))
        for output in outputs(exchange):
            for name, arguments in output.calls:
                if name not in tools:
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
                elif is_forced or tools[name].get("strict"):
                    schema = tools[name].get("parameters") or tools[name].get("input_schema") or {}
                    for violation in Validator(schema).violations(value):
                        yield f"the arguments of {name!r} violate its schema: {violation}"


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


def _functions(tools: Any) -> dict[Any, dict[str, Any]]:
    flat = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)]
    return {function.get("name"): function for function in flat}
