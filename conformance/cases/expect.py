"""Compares an answer with what a case expects of it."""

import re
from collections.abc import Mapping
from typing import Any

from specvino.conformance.dialect import Dialect, Kind
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.verdict import Advice, Failed, NotExercised
from specvino.document.validator import Validator

OTHER_STATUS = Advice(
    "The request is refused, but clients choose by the status what to do next, and know the document's.",
    "/components/responses",
)

NAMES_THE_FIELD = Advice(
    "Clients show people which of their fields is wrong. OpenAI's document lets it be null.",
    "/components/schemas/Error/properties/param",
)


def expect(exchange: Exchange, expected: Mapping[str, Any], dialect: Dialect, endpoint: str) -> None:
    """Compares an exchange with `expected`, the keys of which `cases/case.schema.json` describes.

    Raises Failed, or NotExercised where a count is looked for and the answer has none, which is for the rules about
    shapes to judge."""
    if "refused" in expected:
        _refused(exchange, expected["refused"], dialect, endpoint)
    else:
        _status(exchange, expected.get("status", [200]))
    if "param" in expected and dialect.names_fields:
        _param(exchange, expected["param"])
    for name, schema in expected.get("headers", {}).items():
        _header(exchange, name, schema)
    if not expected.keys() & {"body", "absent", "chunks"}:
        return
    try:
        answer: Any = exchange.answer if exchange.is_stream else exchange.json
    except Unreadable as error:
        raise Failed(str(error), exchange) from None
    for path, schema in expected.get("body", {}).items():
        found = values_at(answer, path.removesuffix("?"))
        counts = path.startswith("usage.") and isinstance(answer, Mapping) and not _wants_usage(exchange)
        if counts and not answer.get("usage"):
            raise NotExercised("the answer has no usage")
        if not found and schema is not False and not path.endswith("?"):
            raise Failed(f"the answer has no {path}", exchange)
        _values(exchange, found, schema)
    for path in expected.get("absent", ()):
        if found := values_at(answer, path):
            raise Failed(f"the answer has {found[0][0]}: {found[0][1]!r}", exchange)
    for path, schema in expected.get("chunks", {}).items():
        for chunk in exchange.chunks:
            _values(exchange, values_at(chunk, path), schema)


def _wants_usage(exchange: Exchange) -> bool:
    """Tells whether a stream was asked for usage, which it then must have."""
    options = exchange.request.asked("stream_options")
    return exchange.is_stream and isinstance(options, Mapping) and options.get("include_usage") is True


def values_at(value: Any, path: str) -> list[tuple[str, Any]]:
    """Returns all values at a path, with the paths at which they are; `*` stands for every element, and the empty path
    for the whole."""
    found = [("", value)]
    for name in path.split(".") if path else ():
        found = [
            (f"{where}.{key}".removeprefix("."), each) for where, holder in found for key, each in _below(holder, name)
        ]
    return found


def _below(holder: Any, name: str) -> list[tuple[str, Any]]:
    if isinstance(holder, Mapping):
        if name == "*":
            return list(holder.items())
        return [(name, holder[name])] if name in holder else []
    if isinstance(holder, list):
        if name == "*":
            return [(str(index), each) for index, each in enumerate(holder)]
        index = int(name) if re.fullmatch(r"-?\d+", name) else None
        if index is not None and -len(holder) <= index < len(holder):
            return [(name, holder[index])]
    return []


def _values(exchange: Exchange, found: list[tuple[str, Any]], schema: Any) -> None:
    validator = Validator(schema if isinstance(schema, Mapping) else {"const": schema})
    for where, value in found:
        for violation in validator.violations(value):
            raise Failed(f"{where or 'the answer'} is wrong: {violation.removeprefix('it: ')}", exchange)


def _status(exchange: Exchange, expected: list[Any]) -> None:
    if exchange.status is None or exchange.ended != "complete":
        raise Failed(exchange.problem or exchange.ended, exchange)
    if not any(each in (exchange.status, f"{exchange.status // 100}xx") for each in expected):
        raise Failed(
            f"the status is {exchange.status}, not {' or '.join(map(str, expected))}{_said(exchange)}", exchange
        )


def _refused(exchange: Exchange, kinds: Any, dialect: Dialect, endpoint: str) -> None:
    """Looks at the status alone: the shape of errors is for a rule, which tells of it once. That another status refuses
    the request is a lesser fault than an answer."""
    several: list[Kind] = kinds if isinstance(kinds, list) else [kinds]
    statuses = [status for kind in several for status in dialect.statuses(kind, endpoint) or ("4xx",)]
    try:
        _status(exchange, list(dict.fromkeys(statuses)))
    except Failed as failed:
        if exchange.ended == "complete" and 400 <= (exchange.status or 0) < 500:
            raise Failed(str(failed), exchange, advice=OTHER_STATUS) from None
        raise


def _param(exchange: Exchange, expected: list[str]) -> None:
    if "param" not in exchange.error:
        return  # the shape is wrong, which is for another rule
    param = exchange.error["param"]
    dotted = re.sub(r"\[(\w+)\]", r".\1", param) if isinstance(param, str) else param
    if dotted not in expected:
        raise Failed(f"error.param is {param!r}, not {' or '.join(expected)}", exchange, advice=NAMES_THE_FIELD)


def _header(exchange: Exchange, name: str, schema: Any) -> None:
    value = exchange.headers.get(name.lower())
    if value is None:
        if schema is not False:
            raise Failed(f"the answer has no header {name}", exchange)
        return
    _values(exchange, [(f"the header {name}", value)], schema if schema is not False else {"not": {}})


def _said(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return f": {message[:200]}" if isinstance(message, str) else ""
