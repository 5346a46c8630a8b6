"""Checks of streamed chunks, and of their equality with the unary answer."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import OF_PROCESS, VARYING
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import require_alike
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable

NO_USAGE = "include_usage was requested, but none of the {} chunks has usage"


async def usage_in_last_chunk(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With include_usage, only the last chunk has usage, and it has no choices."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    holders = [index for index, chunk in enumerate(exchange.chunks) if chunk.get("usage") is not None]
    last = len(exchange.chunks) - 1
    if not holders:
        raise Failed(NO_USAGE.format(len(exchange.chunks)), exchange)
    if holders != [last]:
        indexes = ", ".join(map(str, holders))
        raise Failed(f"usage must only be in chunk {last}, the last one, but is in: {indexes}", exchange)
    if exchange.chunks[last].get("choices") != []:
        raise Failed(f"the chunk with usage has choices: {exchange.chunks[last].get('choices')!r}", exchange)


async def usage_null_before_last_chunk(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With include_usage, every chunk has the field `usage`, null before the end."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if not any(chunk.get("usage") for chunk in exchange.chunks):
        raise NotExercised(NO_USAGE.format(len(exchange.chunks)))
    without = [index for index, chunk in enumerate(exchange.chunks) if "usage" not in chunk]
    if without:
        raise Failed(f"{len(without)} of {len(exchange.chunks)} chunks don't have the field usage", exchange)


async def no_usage_unless_requested(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without include_usage, no chunk has usage: clients that read choices[0] fail on a chunk without choices."""
    exchange = await _streamed(session, endpoint, body)
    for index, chunk in enumerate(exchange.chunks):
        if chunk.get("usage") is not None:
            raise Failed(f"chunk {index} has usage, though include_usage wasn't requested", exchange)


async def usage_so_far(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With continuous_usage_stats, every chunk with text has the usage up to it, which grows to that of the end."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    exchange = await _streamed(session, endpoint, {**body, "stream_options": options})
    *chunks, last = exchange.chunks
    counts: list[Any] = []
    for index, chunk in enumerate(chunks):
        if not any(_text(choice) for choice in chunk.get("choices") or ()):
            continue
        usage = chunk.get("usage")
        if not isinstance(usage, Mapping):
            raise Failed(f"chunk {index} has text and no usage", exchange)
        counts.append(usage.get("completion_tokens"))
    if not counts:
        raise Unsuitable("no chunk has text")
    counts.append((last.get("usage") or {}).get("completion_tokens"))
    if not all(type(count) is int and count > 0 for count in counts):
        raise Failed(f"completion_tokens of the chunks with text must be positive integers, but are {counts}", exchange)
    several = len(counts) > 2
    if counts != sorted(counts) or (several and len(set(counts[:-1])) == 1):
        raise Failed(f"completion_tokens must grow to that of the last chunk, but are {counts}", exchange)


def _text(choice: Mapping[str, Any]) -> str:
    delta = choice.get("delta") or {}
    return str(choice.get("text") or delta.get("content") or delta.get("reasoning_content") or "")


async def answer_in_several_chunks(session: Session, endpoint: str, *, body: Mapping[str, Any], fewest: int) -> None:
    """A long answer comes in at least `fewest` chunks. One chunk is a failure; a few don't decide the matter."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if (tokens := counted(exchange, "completion_tokens")) < 2 * fewest:
        raise Unsuitable(f"the answer has {tokens} tokens, too few for several chunks")
    if any(output.calls for output in outputs(exchange)):
        raise Unsuitable("the answer is a tool call")
    deltas = [choice.get("delta") or {} for chunk in exchange.chunks for choice in chunk.get("choices") or ()]
    with_text = [
        delta for delta in deltas if any(delta.get(name) for name in ("content", "reasoning_content", "reasoning"))
    ]
    if len(with_text) == 1:
        raise Failed(f"{tokens} tokens come in one chunk", exchange)
    if 0 < len(with_text) < fewest:
        raise NotExercised(f"{tokens} tokens come in {len(with_text)} chunks, too few for a verdict")


async def deltas_have_whole_characters(session: Session, endpoint: str, *, text: str) -> None:
    """No delta contains a part of a character. A schema forces the text of the answer."""
    schema = {
        "type": "object",
        "properties": {"text": {"enum": [text]}},
        "required": ["text"],
        "additionalProperties": False,
    }
    format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    body = {
        "messages": [{"role": "user", "content": "Answer with JSON."}],
        "response_format": format,
        "max_tokens": 100,
    }
    exchange = await _streamed(session, endpoint, body)
    for index, chunk in enumerate(exchange.chunks):
        for choice in chunk.get("choices") or ():
            delta = (choice.get("delta") or {}).get("content") or ""
            if "\ufffd" in delta or any("\ud800" <= character <= "\udfff" for character in delta):
                raise Failed(f"chunk {index} has an incomplete character: {delta!r}", exchange)
    output = next(outputs(exchange))
    if output.reason != "stop":
        raise Unsuitable(f"finish_reason is {output.reason!r}")
    if text not in output.text and "\\u" not in output.text:
        raise NotExercised(f"the answer should contain {text!r}, but is {output.text!r}")


async def json_without_stream(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without `stream`, the answer is one JSON object."""
    exchange = await session.answered(endpoint, body)
    if exchange.is_stream or exchange.media != "application/json":
        raise Failed(f"the media type is {exchange.media!r}, not application/json", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns the exchange of a streamed answer. Raises Unreadable if it isn't a stream."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    return exchange


# Fields that differ between answers, or between their two forms.
VOLATILE = (
    "id",
    "call_id",
    "created",
    "created_at",
    "completed_at",
    "object",
    "service_tier",
    *OF_PROCESS,
)

# The name of all differences in how answers end, fields that have them, and those that have what answers say.
END = "end"
ENDS = {
    *("finish_reason", "stop_reason", "stop_sequence", "status", "incomplete_details"),
    *("completion_tokens", "output_tokens", "total_tokens", "reasoning_tokens"),
}
SAID = {
    *("content", "text", "reasoning", "reasoning_content", "thinking", "refusal", "summary"),
    *("tool_calls", "arguments", "input", "output"),
}

# The names of all differences in the lengths of lists, and in whether there is a field: both may be steady where what
# is in them is drawn.
LENGTH, PRESENCE = "length", "presence"

# Objects whose keys are the texts of tokens, which may be drawn: they have no steady members.
BY_TOKEN = re.compile(r"^choices\.\d+\.logprobs\.top_logprobs\.\d+\.$")

# Fields that some systems only have in unary answers, or that folding drops.
UNARY_ONLY = ("bytes", "metadata", "matched_stop", "reasoning_tokens")


async def stream_parity(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The folded stream equals the unary answer."""
    options = {"stream_options": {"include_usage": True}} if endpoint in ("chat", "completions") else {}
    await require_alike(
        partial(session.answered, endpoint, body),
        partial(session.answered, endpoint, {**body, "stream": True, **options}),
        partial(_differences, session.dialect),
        within=partial(_changes, session.dialect),
    )


def _changes(dialect: Dialect, one: Exchange, other: Exchange) -> dict[str, str]:
    """Returns the differences of two answers to the same request: if they say something else, their ends, lists and
    optional fields may differ, although by chance they don't. Raises Unreadable."""
    changes = _differences(dialect, one, other)
    is_said = any(name in (LENGTH, PRESENCE) or _last(name) in SAID for name in changes)
    return changes | {END: "", LENGTH: "", PRESENCE: ""} if is_said else changes


def _differences(dialect: Dialect, one: Exchange, other: Exchange) -> dict[str, str]:
    """Returns the differences of two answers in what the document describes, by path, but those of how they end by END,
    of lists' lengths by LENGTH and of fields that only one has by PRESENCE. Raises Unreadable."""
    is_exact = dialect.is_exact
    left_out = {"usage"} if not is_exact and not _counted_once(one, other) else set()
    unary, folded = (
        {name: value for name, value in exchange.answer.items() if name not in left_out} for exchange in (one, other)
    )
    endpoint = one.request.endpoint or ""
    unary, folded = (_comparable(dialect.described(endpoint, answer), is_exact) for answer in (unary, folded))
    differences: dict[str, str] = {}
    for path, sentence in _compared(unary, folded, is_exact):
        of, _, last = path.rpartition(".")
        name = last if last in (LENGTH, PRESENCE) else path
        differences.setdefault(END if last in ENDS or (name == PRESENCE and _last(of) in ENDS) else name, sentence)
    return differences


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _counted_once(unary: Exchange, stream: Exchange) -> bool:
    """Returns whether both answers have usage, and the stream has it once, not for each choice."""
    has_usage = all(exchange.answer.get("usage") for exchange in (unary, stream))
    return has_usage and sum(bool(chunk.get("usage")) for chunk in stream.chunks) <= 1


def _comparable(value: Any, is_exact: bool) -> Any:
    """Returns an answer without ids, times and empty values. For other systems, also without fields that only their
    unary answers have."""
    if isinstance(value, Mapping):
        shown = {key: bool(item) or None if key in VARYING else item for key, item in value.items()}
        kept = {key: _comparable(item, is_exact) for key, item in shown.items() if key not in VOLATILE}
        filled = {key: item for key, item in kept.items() if item not in (None, "", [], {})}
        if is_exact:
            return filled
        left_out = (*UNARY_ONLY, "index") if "function" in filled else UNARY_ONLY
        return {key: item for key, item in filled.items() if key not in left_out and not _is_zero_details(key, item)}
    if isinstance(value, list):
        return [_comparable(item, is_exact) for item in value]
    return value


def _is_zero_details(name: str, value: Any) -> bool:
    return name.endswith("_details") and isinstance(value, Mapping) and not any(value.values())


def _compared(one: Any, other: Any, is_exact: bool, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields the differences with their paths, as sentences."""
    if BY_TOKEN.search(path) and isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() != other.keys():
        yield _difference(path, one, other)
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            if key in one and key in other:
                yield from _compared(one[key], other[key], is_exact, f"{path}{key}.")
            # Other systems may omit details in one form.
            elif is_exact or not key.endswith("_details"):
                form = "streamed" if key not in one else "not streamed"
                yield f"{path}{key}.{PRESENCE}", f"{path}{key} is only present when {form}"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (element, another) in enumerate(zip(one, other, strict=True)):
            yield from _compared(element, another, is_exact, f"{path}{index}.")
    elif isinstance(one, list) and isinstance(other, list):
        yield f"{path}{LENGTH}", _difference(path, one, other)[1]
    elif not _is_equal(one, other):
        yield _difference(path, one, other)


def _difference(path: str, one: Any, other: Any) -> tuple[str, str]:
    name, shown = path.removesuffix("."), [json.dumps(item, ensure_ascii=False)[:120] for item in (one, other)]
    return name, f"{name} is {shown[0]} in the unary answer, but {shown[1]} in the folded stream"


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return abs(one - other) <= 1e-3 * max(1.0, abs(one))
    return bool(one == other)
