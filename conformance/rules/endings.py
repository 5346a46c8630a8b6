"""Rules for finish reasons, token limits and stop strings."""

from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.endpoints import COUNTS, token_limits
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import is_flat, outputs
from specvino.conformance.rules.rule import Rule, endpoint_of


class FinishAgrees(Rule):
    name = "finish-agrees"
    says = "finish_reason is consistent with the answer: tool_calls with calls, length with the limit."
    specs: ClassVar = {
        "chat": "/components/schemas/ChatChoice/properties/finish_reason",
        "completions": "/components/schemas/CompletionChoice/properties/finish_reason",
        "responses": "/components/schemas/ResponseStatus",
    }

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and exchange.request.endpoint in ("chat", "completions", "responses")

    def violations(self, exchange: Exchange) -> Iterator[str]:
        answer = exchange.answer
        for output in outputs(exchange):
            if output.reason == "tool_calls" and not output.calls and self._shows_calls(exchange):
                yield "finish_reason is tool_calls, but there are no tool calls"
            # With a named tool_choice, stop is right: OpenAI's server returns it.
            if output.calls and output.reason == "stop" and not isinstance(_choice(exchange), dict):
                yield "finish_reason is stop, but there are tool calls: agents stop without running them"
        limit = limit_of(exchange)
        completion_tokens = _completion_tokens(exchange, answer)
        ended = [output.reason for output in outputs(exchange)]
        if limit is not None:
            limit -= self.dialect.withheld_tokens(exchange.request.endpoint)
        if completion_tokens == 0 and any(output.text or output.reasoning for output in outputs(exchange)):
            return  # usage-adds-up reports a count of 0
        if (
            limit is not None
            and completion_tokens is not None
            and len(ended) == 1
            and ended[0] == "length"
            and completion_tokens < limit
        ):
            total = (answer.get("usage") or {}).get("total_tokens")
            counts = f"{completion_tokens} tokens (total_tokens is {total})"
            yield f"finish_reason is length after {counts}, but the limit is {limit}"

    def _shows_calls(self, exchange: Exchange) -> bool:
        """Returns whether the server parses tool calls: some systems do so only in unary answers."""
        return not exchange.is_stream or self.dialect.has_property("ChatDelta", "tool_calls")


class TokenLimit(Rule):
    name = "token-limit"
    says = "An answer has no more tokens than the limit allows."
    specs: ClassVar = {
        "chat": "/components/schemas/CreateChatCompletionRequest/properties/max_completion_tokens",
        "completions": "/components/schemas/CreateCompletionRequest/properties/max_tokens",
        "responses": "/components/schemas/CreateResponseRequest/properties/max_output_tokens",
        "messages": "/components/schemas/CreateMessageRequest/properties/max_tokens",
        "ollama_chat": "/components/schemas/OllamaOptions/properties/num_predict",
        "ollama_generate": "/components/schemas/OllamaOptions/properties/num_predict",
    }

    def applies(self, exchange: Exchange) -> bool:
        return (
            exchange.ok and limit_of(exchange) is not None and _completion_tokens(exchange, exchange.answer) is not None
        )

    def violations(self, exchange: Exchange) -> Iterator[str]:
        limit, completion_tokens = limit_of(exchange) or 0, _completion_tokens(exchange, exchange.answer) or 0
        texts = max(exchange.request.asked("n", 1), exchange.request.asked("best_of", 1))
        prompts = exchange.request.asked("prompt")
        if isinstance(prompts, list) and prompts and isinstance(prompts[0], str | list):
            texts *= len(prompts)
        if completion_tokens > limit * texts:
            yield too_many(exchange, completion_tokens, texts)


class StopAbsent(Rule):
    name = "stop-absent"
    says = "No answer contains a stop string, unless the request asks for it."
    specs: ClassVar = {
        "chat": "/components/schemas/CreateChatCompletionRequest/properties/stop",
        "completions": "/components/schemas/CreateCompletionRequest/properties/stop",
    }

    def applies(self, exchange: Exchange) -> bool:
        included = exchange.request.asked("include_stop_str_in_output", False)
        return exchange.ok and bool(exchange.request.asked("stop")) and not included

    def violations(self, exchange: Exchange) -> Iterator[str]:
        stop = exchange.request.asked("stop")
        for output in outputs(exchange):
            text = output.text
            if endpoint_of(exchange) == "completions" and exchange.request.asked("echo", False):
                prompt = exchange.request.asked("prompt")
                if not isinstance(prompt, str):
                    continue
                text = text.removeprefix(prompt)
            # Some systems ignore values that aren't strings.
            for sequence in stop if isinstance(stop, list) else [stop]:
                if isinstance(sequence, str) and sequence and sequence in text:
                    yield shows_stop(sequence, text)


def shows_stop(stop: str, text: str) -> str:
    """Returns the finding for a text that contains a stop string."""
    return f"the stop string {stop!r} is in {text[:120]!r}"


def limit_of(exchange: Exchange) -> int | None:
    """Returns the token limit of a request; the newer field takes precedence."""
    return _limit(exchange)[1]


def used_up(exchange: Exchange) -> bool:
    """Returns whether an answer has as many tokens as its limit allows, whatever its finish reason."""
    limit, completion_tokens = limit_of(exchange), _completion_tokens(exchange, exchange.answer)
    return limit is not None and completion_tokens is not None and completion_tokens >= limit


def too_many(exchange: Exchange, completion_tokens: int, texts: int = 1) -> str:
    """Returns the finding for an answer with more tokens than the limit allows for each of `texts` texts."""
    name, limit = _limit(exchange)
    suffix = f" for each of {texts} texts" if texts > 1 else ""
    return f"the answer has {completion_tokens} tokens, though {name} is {limit}{suffix}"


def _limit(exchange: Exchange) -> tuple[str, int | None]:
    for name in reversed(token_limits(exchange.request.endpoint or "")):
        value = exchange.request.asked(name)
        if type(value) is int and value > 0:
            return name.rpartition(".")[2], value
    return "", None


def _completion_tokens(exchange: Exchange, answer: dict[str, Any]) -> int | None:
    usage = answer if is_flat(exchange.request.endpoint) else answer.get("usage")
    if exchange.request.endpoint not in COUNTS or not isinstance(usage, dict):
        return None
    completion_tokens = usage.get(COUNTS[exchange.request.endpoint][1])
    return completion_tokens if type(completion_tokens) is int else None


def _choice(exchange: Exchange) -> Any:
    return exchange.request.asked("tool_choice")
