"""Tool calls: their names, arguments and ids."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import used_up
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.verdict import Advice
from specvino.document.validator import Validator

OPENAI_S = Advice(
    "Clients execute calls. OpenAI's document says that its models may call unknown tools, with invalid JSON.",
    "/components/schemas/ChatToolCall/properties/function",
)


class ArgumentsValid(Rule):
    name = "arguments-valid"
    says = (
        "A call names one of the request's tools, and its arguments are JSON, which fits the schema of a strict tool."
    )
    specs: ClassVar = {
        "chat": "/components/schemas/CreateChatCompletionRequest/properties/tools",
        "responses": "/components/schemas/CreateResponseRequest/properties/tools",
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and bool(exchange.request.asked("tools"))

    def advice(self, endpoint: str) -> Advice | None:
        """Returns OpenAI's own reservation, where the dialect makes it."""
        return None if self.dialect.has_reliable_calls else OPENAI_S

    def violations(self, exchange: Exchange) -> Iterator[str]:
        tools = _functions(exchange.request.asked("tools"))
        # Without reliable calls only strict tools have valid arguments; otherwise all forced calls do.
        held = self.dialect.has_reliable_calls and _forced(exchange.request.asked("tool_choice"))
        for output in outputs(exchange):
            for name, arguments in output.calls:
                if name not in tools:
                    yield f"{name!r} is called, which is none of {', '.join(map(repr, tools))}"
                    continue
                if output.reason == "length":
                    continue  # it is truncated, and says so
                try:
                    # Some systems' documents have the object itself.
                    value = arguments if isinstance(arguments, dict) else json.loads(arguments)
                except (TypeError, ValueError):
                    if used_up(exchange):
                        continue  # it is truncated; a case reports a wrong finish_reason
                    yield f"the arguments of {name!r} are not JSON: {str(arguments)[:120]!r}"
                    continue
                if not isinstance(value, dict):
                    yield f"the arguments of {name!r} are no object: {arguments[:120]!r}"
                elif held or tools[name].get("strict"):
                    for violation in Validator(tools[name].get("parameters") or {}).violations(value):
                        yield f"the arguments of {name!r} break its schema: {violation}"


class NoEmptyCalls(Rule):
    name = "no-empty-calls"
    says = "Without calls, tool_calls is left out or null, not an empty list."
    specs: ClassVar = {"chat": "/components/schemas/ChatMessage/properties/tool_calls"}
    advised: ClassVar = {
        "": Advice(
            "Clients look for the first call of the list; OpenAI's server refuses the list when it comes back.",
            "https://github.com/vllm-project/vllm/pull/44105",
        )
    }

    def concerns(self, endpoint: str) -> bool:
        # Where the document requires tool_calls in every message, they may be empty.
        return endpoint in self.specs and not self.dialect.requires("ChatMessage", "tool_calls")

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and self.concerns(endpoint_of(exchange))

    def violations(self, exchange: Exchange) -> Iterator[str]:
        for holder in exchange.chunks if exchange.is_stream else (exchange.answer,):
            for choice in holder.get("choices") or ():
                message = choice["delta" if exchange.is_stream else "message"]
                if message.get("tool_calls") == []:
                    yield f"tool_calls of choice {choice['index']} is an empty list"
                    return  # the next ones mostly have the same fault


def _forced(choice: Any) -> bool:
    """Returns whether a tool_choice requires a call, of any tool or of some."""
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools", choice)
        return not isinstance(allowed, dict) or allowed.get("mode") != "auto"
    return bool(choice == "required")


def _functions(tools: Any) -> dict[Any, dict[str, Any]]:
    flat = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)]
    return {function.get("name"): function for function in flat}
