"""Checks of responses: objects and items."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from specvino.conformance.endpoints import token_limits
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import ROUNDS
from specvino.conformance.session.steps import counted
from specvino.conformance.session.stored_responses import SHORT, items_of
from specvino.conformance.verdict import Failed, Unsuitable
from specvino.document.validator import Validator

# Seconds. A clock may be hours off; a time in milliseconds is off by years.
A_DAY = 86_400


async def inputs_equivalent(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """All these inputs are the same prompt, with the same number of tokens."""
    first, *others = [await _short(session, endpoint, body) for body in bodies]
    for other in others:
        one, another = counted(first, "input_tokens"), counted(other, "input_tokens")
        if one != another:
            raise Failed(f"equivalent inputs have {one} and {another} tokens", first, other)


async def inputs_grow(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Each of these inputs has more content than the previous one, so more tokens."""
    before: Exchange | None = None
    for body in bodies:
        exchange = await _short(session, endpoint, body)
        if before is not None and (more := counted(exchange, "input_tokens")) <= (
            less := counted(before, "input_tokens")
        ):
            raise Failed(
                f"input_tokens is {less} without a part of the input and {more} with it, expected more",
                before,
                exchange,
            )
        before = exchange


async def null_is_absent(session: Session, endpoint: str, *, body: Mapping[str, Any], fields: Sequence[str]) -> None:
    """Null for these fields is the same as absent: the request is accepted, and the answer has the same values."""
    plain = await _short(session, endpoint, body)
    nulls = await _short(session, endpoint, {**body, **dict.fromkeys(fields)})
    for field in fields:
        shown_values = [answer.get(field) or None for answer in (plain.answer, nulls.answer)]
        if field in plain.answer and shown_values[0] != shown_values[1]:
            values = f"{nulls.answer.get(field)!r} with null, and {plain.answer[field]!r} without the field"
            raise Failed(f"{field} in the answer is {values}", plain, nulls)
    absent, null = counted(plain, "input_tokens"), counted(nulls, "input_tokens")
    if absent != null:
        raise Failed(f"input_tokens is {null} with null for optional fields, {absent} without them", plain, nulls)


async def truncated_is_incomplete(
    session: Session, endpoint: str, *, body: Mapping[str, Any], item: bool = False
) -> None:
    """A truncated answer is incomplete and has the reason; with `item`, the truncated item is incomplete, too. An
    answer may end by itself at its limit, but not at each of several limits."""
    for limit in range(SHORT, SHORT + ROUNDS):
        exchange = await session.answered(endpoint, {**body, token_limits(endpoint)[0]: limit})
        answer = exchange.answer
        if answer.get("status") == "incomplete":
            details = answer.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else details
            if reason != "max_output_tokens":
                raise Failed(
                    f"the answer is truncated by the limit, but incomplete_details.reason is {reason!r}", exchange
                )
            if exchange.is_stream and exchange.chunks[-1].get("type") != "response.incomplete":
                raise Failed(
                    f"the last event of an incomplete response is {exchange.chunks[-1].get('type')!r}", exchange
                )
            last = items_of(exchange)[-1:]
            if item and last and last[0].get("type") == "message" and last[0].get("status") != "incomplete":
                raise Failed(f"the status of the truncated message is {last[0].get('status')!r}", exchange)
            return
        if counted(exchange, "output_tokens") != limit:
            raise Unsuitable(f"the answer ended before {limit} tokens")
    raise Failed(
        f"the status of an answer that reaches the limit of {limit} tokens is {answer.get('status')!r}", exchange
    )


async def timestamps_plausible(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """created_at is the time of the request in seconds, and completed_at isn't before it."""
    exchange = await _short(session, endpoint, body)
    created, completed = exchange.answer.get("created_at"), exchange.answer.get("completed_at")
    now = _now(exchange)
    if isinstance(created, bool) or not isinstance(created, int | float) or abs(created - now) > A_DAY:
        raise Failed(f"created_at is {created!r}, but the time is {now:.0f}", exchange)
    if completed is not None and not created <= completed <= now + A_DAY:
        raise Failed(f"completed_at is {completed!r}, but created_at is {created!r}", exchange)


async def item_ids_unique(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Items and calls have unique ids, within a response and across responses."""
    seen: dict[tuple[str, Any], Exchange] = {}
    for body in bodies:
        exchange = await session.answered(endpoint, body)
        for item in items_of(exchange):
            for name in ("id", "call_id"):
                if item.get(name) is None:
                    continue
                if (name, item[name]) in seen:
                    raise Failed(f"two items have the {name} {item[name]!r}", seen[name, item[name]], exchange)
                seen[name, item[name]] = exchange


async def output_accepted_as_input(session: Session, endpoint: str, *, body: Mapping[str, Any], then: str) -> None:
    """The output of a response may be part of the next input, unchanged."""
    first = await session.answered(endpoint, body)
    items = items_of(first)
    if not items_of(first, "message"):
        raise Unsuitable("the answer has no message: reasoning reached the token limit")
    question = {"role": "user", "content": body["input"]}
    again = {**body, "input": [question, *items, {"role": "user", "content": then}]}
    second = await session.answered(endpoint, again)
    _require_longer(first, second, "the earlier items")


async def tool_result_read(
    session: Session, endpoint: str, *, body: Mapping[str, Any], output: Any, kind: str = "function_call"
) -> None:
    """A call, an item of the type `kind`, and its result in the input are read: the prompt is longer than without
    them."""
    first = await session.answered(endpoint, body)
    calls = items_of(first, kind)
    if not calls or first.answer.get("status") == "incomplete":
        raise Unsuitable("the token limit truncated the call")
    history = [{"role": "user", "content": body["input"]}, *items_of(first)]
    results = [{"type": f"{kind}_output", "call_id": call.get("call_id"), "output": output} for call in calls]
    after = {**body, "input": [*history, *results], "tool_choice": "auto", "max_output_tokens": SHORT}
    second = await session.answered(endpoint, after)
    _require_longer(first, second, "the call and its result")


async def function_called(
    session: Session, endpoint: str, *, body: Mapping[str, Any], name: str | None = None, most: int | None = None
) -> None:
    """A function is called (`name`, at most `most` times): a function_call item has its own call_id and arguments that
    are a string."""
    exchange = await session.answered(endpoint, body)
    calls = items_of(exchange, "function_call")
    if not calls:
        if any(output.reason == "length" for output in outputs(exchange)):
            raise Unsuitable("the token limit was reached before a function call")
        raise Failed("no function is called, though tool_choice requires a call", exchange)
    for call in calls:
        if not isinstance(call.get("call_id"), str) or not call["call_id"]:
            raise Failed(f"the call_id of a call is {call.get('call_id')!r}", exchange)
        if not isinstance(call.get("arguments"), str):
            raise Failed(f"the arguments of a call are {call.get('arguments')!r}, not a string", exchange)
        if name and call.get("name") != name:
            raise Failed(f"{call.get('name')!r} is called, not {name!r}", exchange)
    if most is not None and len(calls) > most:
        raise Failed(f"there are {len(calls)} function calls, though at most {most} are allowed", exchange)


async def text_part_logprobs(
    session: Session, endpoint: str, *, body: Mapping[str, Any], top: int | None = None
) -> None:
    """The logprobs of a text part join to the text, none is above 0, and each has at most `top` alternatives."""
    exchange = await session.answered(endpoint, body)
    texts = list(_texts(exchange))
    if not texts:
        raise Unsuitable("the answer has no text: reasoning reached the token limit")
    for part in texts:
        tokens = part.get("logprobs")
        if not tokens:
            raise Failed(f"logprobs were requested, but are {tokens!r}", exchange)
        _require_tokens(tokens, part["text"], exchange)
        for token in tokens:
            alternatives = token.get("top_logprobs") or ()
            if top is not None and not 1 <= len(alternatives) <= top:
                raise Failed(f"a token has {len(alternatives)} alternatives, though {top} were requested", exchange)


async def reasoning_tokens_counted(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """reasoning_tokens counts shown reasoning, and is 0 without a reasoning item."""
    exchange = await session.answered(endpoint, body)
    output = next(iter(outputs(exchange)))
    details = (exchange.answer.get("usage") or {}).get("output_tokens_details") or {}
    reasoning_tokens = details.get("reasoning_tokens")
    if output.reasoning.strip() and not reasoning_tokens:
        raise Failed(f"the answer has reasoning, but reasoning_tokens is {reasoning_tokens!r}", exchange)
    if reasoning_tokens and not items_of(exchange, "reasoning"):
        raise Failed(f"reasoning_tokens is {reasoning_tokens}, but there is no reasoning item", exchange)


async def text_matches_schema(
    session: Session, endpoint: str, *, body: Mapping[str, Any], schema: Mapping[str, Any]
) -> None:
    """The text is JSON that is valid by the schema."""
    exchange = await session.answered(endpoint, body)
    output = next(iter(outputs(exchange)))
    if output.reason == "length":
        part = "reasoning" if has_reasoning(exchange, output) and not output.text else "answer"
        raise Unsuitable(f"the {part} reached the token limit")
    try:
        value = json.loads(output.text)
    except ValueError:
        raise Failed(f"the text isn't JSON: {output.text[:120]!r}", exchange) from None
    for violation in Validator(schema).violations(value):
        raise Failed(f"the text violates the schema: {violation}", exchange)


def _require_longer(first: Exchange, second: Exchange, part: str) -> None:
    less, more = counted(first, "input_tokens"), counted(second, "input_tokens")
    if more <= less:
        raise Failed(f"input_tokens is {less} without {part} and {more} with it, expected more", first, second)


async def _short(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    return await session.answered(endpoint, {token_limits(endpoint)[0]: SHORT, "store": False, **body})


def _texts(exchange: Exchange) -> Iterator[dict[str, Any]]:
    for item in items_of(exchange, "message"):
        for part in item.get("content") or ():
            if part.get("type") == "output_text":
                yield part


def _require_tokens(tokens: Sequence[Mapping[str, Any]], text: str, exchange: Exchange) -> None:
    for token in tokens:
        logprob = token.get("logprob")
        if isinstance(logprob, bool) or not isinstance(logprob, int | float) or logprob > 0:
            raise Failed(f"the logprob of {token.get('token')!r} is {logprob!r}, not a number of at most 0", exchange)
    if all(isinstance(token.get("bytes"), list) for token in tokens):
        joined = bytes(byte for token in tokens for byte in token["bytes"]).decode("utf-8", "replace")
    else:
        joined = "".join(token.get("token") or "" for token in tokens)
    # The end-of-turn token isn't part of the text, and white space at its ends may be trimmed.
    if not joined.lstrip().startswith(text.strip().strip("\ufffd")):
        raise Failed(f"the tokens join to {joined[:120]!r}, but the text is {text[:120]!r}", exchange)


def _now(exchange: Exchange) -> float:
    """Returns the time of the answer in seconds since 1970, by the server's Date header if there is one."""
    try:
        return parsedate_to_datetime(exchange.headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return time.time()


async def input_tokens_as_used(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """The count of a request equals `input_tokens` of the response with the same fields."""
    for body in bodies:
        counting = await session.answered("input_tokens", body)
        response = await session.answered("responses", {**body, "store": False, "max_output_tokens": 16})
        count, used = counting.answer.get("input_tokens"), counted(response, "input_tokens")
        if count != used:
            raise Failed(f"input_tokens is {count!r}, but {used} in the usage of the response", counting, response)


async def compacted_output(session: Session, endpoint: str, *, input: Sequence[Mapping[str, Any]]) -> None:
    """The output of a compaction is the user's messages of `input`, followed by one compaction with its content."""
    exchange = await session.answered(endpoint, {"input": input})
    *messages, last = _items(exchange)
    expected = [item["content"] for item in input if item["role"] == "user"]
    texts = ["".join(part.get("text", "") for part in item.get("content") or ()) for item in messages]
    if texts != expected or any(item.get("role") != "user" for item in messages):
        raise Failed(f"before the compaction are {texts!r}, expected the user's messages {expected!r}", exchange)
    if last.get("type") != "compaction" or not last.get("encrypted_content"):
        raise Failed(f"the last item is {last.get('type')!r}, expected a compaction with encrypted_content", exchange)


async def compaction_continued(
    session: Session, endpoint: str, *, input: Sequence[Mapping[str, Any]], question: str
) -> None:
    """The output of a compaction is an input, and its compaction is a part of the prompt."""
    compaction = await session.answered(endpoint, {"input": input})
    items = _items(compaction)
    asked = {"role": "user", "content": question}
    full, without = [
        await _short(session, "responses", {"input": [*before, asked], "store": False})
        for before in (items, [item for item in items if item.get("type") != "compaction"])
    ]
    more, less = counted(full, "input_tokens"), counted(without, "input_tokens")
    if more <= less:
        message = f"input_tokens is {more} with the compaction and {less} without it, expected more"
        raise Failed(message, full, without, compaction)


def _items(exchange: Exchange) -> list[Mapping[str, Any]]:
    items = exchange.answer.get("output")
    if not isinstance(items, list) or not items or not all(isinstance(item, Mapping) for item in items):
        raise Failed("the output has no items", exchange)
    return items
