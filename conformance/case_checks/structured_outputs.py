"""Checks of structured outputs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.endpoints import with_limit
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import Output, has_reasoning, outputs
from specvino.conformance.session.session import Session, require_answer, with_room
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed, NotExercised
from specvino.document.validator import Validator

# More white space in a row than any JSON layout has, in characters.
LONGEST_BLANK = 40

OBJECT = {"type": "object"}


async def structured_output_valid(
    session: Session,
    endpoint: str,
    *,
    body: Mapping[str, Any],
    choices: int = 1,
    ordered: bool = False,
    may_refuse: bool = False,
) -> None:
    """Every choice is valid by response_format and ends by itself; with `ordered`, its keys are in the schema's order.
    With `may_refuse`, a server may refuse the schema with a proper error."""
    exchange = await session.send(endpoint, with_room(endpoint, body))
    if may_refuse and exchange.status in (400, 422) and exchange.content:
        raise NotExercised(f"the server refuses the schema: {exchange.content[:160].decode('utf-8', 'replace')}")
    require_answer(exchange)
    all_outputs = list(outputs(exchange))
    if len(all_outputs) != choices:
        raise Failed(f"there are {len(all_outputs)} choices, not {choices}", exchange)
    schema = _schema(body)
    for output in all_outputs:
        value = _value(exchange, output, bounded=schema is not OBJECT)
        for violation in Validator(schema).violations(value):
            if ordered:
                raise NotExercised(f"the answer violates the schema: {violation}")
            raise Failed(f"the answer {output.text[:120]!r} violates the schema: {violation}", exchange)
        if ordered and list(value) != [name for name in schema["properties"] if name in value]:
            raise Failed(f"the keys aren't in the schema's order: {', '.join(value)}", exchange)


async def concurrent_structured_outputs(
    session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]
) -> None:
    """Concurrent requests are each constrained by their own schema."""
    exchanges = await session.together([(endpoint, with_room(endpoint, body)) for body in bodies])
    for body, exchange in zip(bodies, exchanges, strict=True):
        require_answer(exchange)
        for output in outputs(exchange):
            for violation in Validator(_schema(body)).violations(_value(exchange, output)):
                raise Failed(f"the answer {output.text[:120]!r} violates the schema: {violation}", *exchanges)


async def truncated_structured_outputs(
    session: Session, endpoint: str, *, body: Mapping[str, Any], limits: Sequence[int]
) -> None:
    """At any token limit, truncated JSON has finish_reason length."""
    for limit in limits:
        exchange = await session.answered(endpoint, with_limit(endpoint, body, limit))
        for output in outputs(exchange):
            if output.reason != "length":
                value = _value(exchange, output)
                for violation in Validator(_schema(body)).violations(value):
                    raise Failed(
                        f"with a limit of {limit} tokens the answer is {output.text[:120]!r}: {violation}", exchange
                    )


async def server_works_after_refused_format(
    session: Session,
    endpoint: str,
    *,
    body: Mapping[str, Any],
    refused: Sequence[Mapping[str, Any]],
    param: list[str] | None = None,
) -> None:
    """Each response format in `refused` is refused, and the next request is answered as usual."""
    for response_format in refused:
        exchange = await session.send(endpoint, {**body, "response_format": response_format})
        expected = {"refused": "validation"} | ({"param": param} if param else {})
        expect(exchange, expected, session.dialect, endpoint)
        await structured_output_valid(session, endpoint, body=body)


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    if "format" in body:
        own: Mapping[str, Any] = body["format"]
        return own
    format: Mapping[str, Any] = body["response_format"]
    return format["json_schema"]["schema"] if format["type"] == "json_schema" else OBJECT


def _value(exchange: Exchange, output: Output, *, bounded: bool = True) -> Any:
    """Returns the answer's JSON value. Raises Failed if it isn't JSON; NotExercised if the model reasoned up to the
    limit or refused. `bounded` is whether the schema bounds the text's length."""
    if output.reason == "length" and has_reasoning(exchange, output):
        raise NotExercised("the model's reasoning used up its tokens")
    if (output.choice.get("message") or {}).get("refusal"):
        raise NotExercised("the model refused to answer")
    if output.reason == "length":
        blank = len(output.text) - len(output.text.rstrip()) > LONGEST_BLANK
        if not bounded and not blank:
            raise NotExercised("the object, which the schema doesn't bound, reached the token limit")
        rest = "white space" if blank else repr(output.text[-80:])
        raise Failed(f"the answer doesn't end before the token limit, but continues with {rest}", exchange)
    if output.reason != "stop":
        raise Failed(f"finish_reason is {output.reason!r}, not 'stop'", exchange)
    try:
        return json.loads(output.text)
    except (ValueError, RecursionError) as error:
        raise Failed(f"the answer isn't JSON ({error}): {output.text[:120]!r}", exchange) from None
