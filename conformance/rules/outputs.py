"""The outputs of an answer in one form for all endpoints."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.generated.streams import STREAMS


@dataclass(frozen=True, slots=True)
class Output:
    """One choice, or the whole output of a response. `reason` is the finish reason; for responses it is derived from
    status and items: `stop`, `length` or `tool_calls`. `calls` are (name, arguments). `choice` is the raw JSON
    object."""

    text: str
    reasoning: str
    reason: Any
    calls: tuple[tuple[Any, Any], ...]
    choice: Any


def outputs(exchange: Exchange) -> Iterator[Output]:
    """Yields the outputs of an answer. Raises Unreadable."""
    answer = exchange.answer
    if exchange.request.endpoint == "responses":
        yield _response(answer, _used_up(exchange))
        return
    if exchange.request.endpoint == "messages":
        yield _message(answer)
        return
    if is_flat(exchange.request.endpoint):
        yield _ollama(answer)
        return
    for choice in answer.get("choices") or ():
        # FastDeploy's text completions have reasoning and calls, too.
        message = choice if "text" in choice else choice.get("message") or {}
        calls = tuple(
            ((call.get("function") or {}).get("name"), (call.get("function") or {}).get("arguments"))
            for call in message.get("tool_calls") or ()
        )
        text = choice.get("text") if "text" in choice else message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
        yield Output(text or "", reasoning, choice.get("finish_reason"), calls, choice)


def is_flat(endpoint: str | None) -> bool:
    """Returns whether an endpoint's answers have text and usage at the top, without choices: those of APIs that stream
    lines of JSON."""
    return endpoint in STREAMS and STREAMS[endpoint].framing == "lines"


def texts(exchange: Exchange) -> list[str]:
    """Returns the texts of an answer's outputs, each with its reasoning before it. Raises Unreadable."""
    return [output.reasoning + output.text for output in outputs(exchange)]


def _message(answer: dict[str, Any]) -> Output:
    blocks = [block for block in answer.get("content") or () if isinstance(block, dict)]
    reasons = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
    return Output(
        "".join(block.get("text") or "" for block in blocks),
        "".join(block.get("thinking") or "" for block in blocks),
        reasons.get(answer.get("stop_reason") or "", answer.get("stop_reason")),
        tuple((block.get("name"), block.get("input")) for block in blocks if block.get("type") == "tool_use"),
        answer,
    )


def _ollama(answer: dict[str, Any]) -> Output:
    """Returns the output of an answer, whose text is in a message or beside its other fields."""
    message = answer.get("message") or answer
    functions = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    return Output(
        message.get("content") or message.get("response") or "",
        message.get("thinking") or "",
        answer.get("done_reason"),
        tuple((function.get("name"), function.get("arguments")) for function in functions),
        answer,
    )


def has_reasoning(exchange: Exchange, output: Output) -> bool:
    """Returns whether some tokens of the answer are reasoning, shown or hidden."""
    usage = exchange.answer.get("usage") or {}
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    return bool(output.reasoning or details.get("reasoning_tokens") or output.text.lstrip().startswith("<think>"))


def _used_up(exchange: Exchange) -> bool:
    """Returns whether a response has as many tokens as its limit allows. It is truncated then, whatever its status; a
    case reports a wrong status."""
    limit = exchange.request.asked("max_output_tokens")
    output_tokens = (exchange.answer.get("usage") or {}).get("output_tokens")
    return type(limit) is int and type(output_tokens) is int and output_tokens >= limit


def _response(answer: dict[str, Any], used_up: bool) -> Output:
    items = [item for item in answer.get("output") or () if isinstance(item, dict)]
    texts = [
        part.get("text") or ""
        for item in items
        if item.get("type") == "message"
        for part in item.get("content") or ()
        if part.get("type") == "output_text"
    ]
    calls = tuple((item.get("name"), item.get("arguments")) for item in items if item.get("type") == "function_call")
    reasoning = [
        part.get("text") or ""
        for item in items
        if item.get("type") == "reasoning"
        for part in (*(item.get("content") or ()), *(item.get("summary") or ()))
    ]
    reason = "length" if used_up or answer.get("status") == "incomplete" else "tool_calls" if calls else "stop"
    return Output("".join(texts), "".join(reasoning), reason, calls, answer)
