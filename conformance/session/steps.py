"""The steps of a case: requests, and the expected answers."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.dialect import Dialect, Kind
from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Advice, Failed, NotExercised
from specvino.document.validator import Validator

REFERENCE = re.compile(r"\$\{(\w+)\.([^}]+)\}")


async def run_steps(session: Session, endpoint: str, steps: Sequence[Mapping[str, Any]]) -> None:
    """Runs the steps in order. Raises Failed at the first step with an unexpected answer."""
    named: dict[str, Exchange] = {}
    for step in steps:
        exchange = await send_step(session, endpoint, _filled(step, named))
        expect(exchange, _filled(step.get("expect", {}), named), session.dialect, endpoint)
        if "name" in step:
            named[step["name"]] = exchange


async def send_step(session: Session, endpoint: str, step: Mapping[str, Any]) -> Exchange:
    """Sends the request of a step (`send` or `raw`) and returns the exchange."""
    if "send" in step:
        return await session.send(endpoint, step["send"], capped=step.get("capped", True))
    raw = step["raw"]
    content = None
    if "text" in raw:
        content = raw["text"].replace("${model}", json.dumps(session.model)[1:-1]).encode()
    elif "base64" in raw:
        content = base64.b64decode(raw["base64"])
    has_body = content is not None or "body" in raw
    own = endpoint if endpoint in paths() and raw.get("path", paths()[endpoint]) == paths()[endpoint] else None
    return await session.raw(
        raw.get("method", "POST" if has_body else "GET"),
        raw.get("path", paths().get(endpoint, "")),
        endpoint=raw.get("endpoint", own),
        body=raw.get("body"),
        content=content,
        headers=raw.get("headers"),
        key=raw.get("key", True),
    )


def _filled(value: Any, named: Mapping[str, Exchange]) -> Any:
    """Returns the value with `${step.path}` replaced by values of earlier answers: a reference alone by the value,
    within a text by the value's text."""
    if isinstance(value, Mapping):
        return {key: _filled(item, named) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, named) for item in value]
    if not isinstance(value, str):
        return value
    if reference := REFERENCE.fullmatch(value):
        return _referred(reference, named)
    return REFERENCE.sub(lambda match: str(_referred(match, named)), value)


def _referred(match: re.Match[str], named: Mapping[str, Exchange]) -> Any:
    exchange = named[match[1]]
    if match[2].startswith("usage."):
        return counted(exchange, match[2].removeprefix("usage."))
    try:
        return values_at(exchange.answer, match[2])[0][1]
    except (Unreadable, IndexError):
        raise Failed(f"the answer has no {match[2]}", exchange) from None


METHOD_STATUS = Advice(
    "HTTP defines 405 for unsupported methods; other statuses hide the cause.",
    "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6",
)

OTHER_STATUS = "The request is refused, but clients handle errors by status, and know only the documented ones."

# JSON pointers to the responses with which requests are refused.
REFUSALS: dict[Kind, str] = {
    "json": "/components/responses/BadRequest",
    "validation": "/components/responses/BadRequest",
    "key": "/components/responses/Unauthorized",
    "unknown_model": "/components/responses/NotFound",
    "unknown_route": "/components/responses/NotFound",
    "too_large": "/components/responses/TooLarge",
    "media_type": "/components/responses/UnsupportedMediaType",
}

# The advice if a 404 is expected, and the request is refused with another status.
NOT_FOUND = Advice(OTHER_STATUS, REFUSALS["unknown_route"])

# The maximum length of a value in messages, in characters.
LONGEST = 240

NAMES_THE_FIELD = Advice(
    "Clients show users which field is invalid. OpenAI's document allows null.",
    "/components/schemas/Error/properties/param",
)


def expect(exchange: Exchange, expected: Mapping[str, Any], dialect: Dialect, endpoint: str) -> None:
    """Compares an exchange with `expected`, whose keys `cases/case.schema.json` describes.

    Raises Failed if it differs, Unreadable if the answer can't be parsed, and NotExercised if an expected count of
    usage is missing: the rules for shapes report that.
    """
    if "refused" in expected:
        _refused(exchange, expected["refused"], dialect, endpoint)
    else:
        _status(exchange, expected.get("status", [200]), NOT_FOUND)
    if "param" in expected and dialect.names_fields:
        _param(exchange, expected["param"])
    for name, schema in expected.get("headers", {}).items():
        _header(exchange, name, schema)
    if not expected.keys() & {"body", "absent", "chunks"}:
        return
    answer: Any = exchange.answer if exchange.is_stream or isinstance(exchange.json, dict) else exchange.json
    checked = 0
    for path, schema in expected.get("body", {}).items():
        values = values_at(answer, path.removesuffix("?"))
        counts = path.startswith("usage.") and isinstance(answer, Mapping) and not _wants_usage(exchange)
        if counts and not answer.get("usage"):
            raise NotExercised("the answer has no usage")
        if not values and not (path.endswith("?") and not dialect.always_has(endpoint, path.partition(".")[0])):
            raise Failed(f"the answer has no {path.removesuffix('?')}", exchange)
        _values(exchange, values, schema)
        checked += len(values)
    if expected.get("body") and not checked:
        left_out = ", ".join(path.removesuffix("?") for path in expected["body"])
        raise NotExercised(f"the answer has no {left_out}, which is optional")
    for path in expected.get("absent", ()):
        if values := values_at(answer, path):
            raise Failed(f"the answer has {values[0][0]}: {values[0][1]!r}", exchange)
    for path, schema in expected.get("chunks", {}).items():
        for chunk in exchange.chunks:
            _values(exchange, values_at(chunk, path), schema)


def _wants_usage(exchange: Exchange) -> bool:
    """Returns whether the request is for a stream with usage, which makes usage required."""
    options = exchange.request.asked("stream_options")
    return exchange.is_stream and isinstance(options, Mapping) and options.get("include_usage") is True


def values_at(value: Any, path: str) -> list[tuple[str, Any]]:
    """Returns all (path, value) pairs at a path. `*` matches every element; the empty path is the whole value."""
    values = [("", value)]
    for name in path.split(".") if path else ():
        values = [
            (f"{location}.{key}".removeprefix("."), item)
            for location, holder in values
            for key, item in _below(holder, name)
        ]
    return values


def _below(holder: Any, name: str) -> list[tuple[str, Any]]:
    if isinstance(holder, Mapping):
        if name == "*":
            return list(holder.items())
        return [(name, holder[name])] if name in holder else []
    if isinstance(holder, list):
        if name == "*":
            return [(str(index), item) for index, item in enumerate(holder)]
        index = int(name) if re.fullmatch(r"-?\d+", name) else None
        if index is not None and -len(holder) <= index < len(holder):
            return [(name, holder[index])]
    return []


def _values(exchange: Exchange, values: list[tuple[str, Any]], schema: Any) -> None:
    constant = not isinstance(schema, Mapping)
    validator = Validator({"const": schema} if constant else schema)
    for location, value in values:
        for violation in validator.violations(value):
            if constant:
                raise Failed(f"{location or 'the answer'} is {quoted(value)}, not {quoted(schema)}", exchange)
            raise Failed(f"{location or 'the answer'} is wrong: {violation.removeprefix('it: ')}", exchange)


def quoted(value: Any) -> str:
    """Returns the repr of a value for messages; long values are truncated, in quotation marks."""
    text = repr(value)
    return text if len(text) <= LONGEST else repr(f"{value if isinstance(value, str) else text:.{LONGEST}}…")


def _status(exchange: Exchange, expected: list[Any], otherwise: Advice) -> None:
    """Raises Failed for an unexpected status. If both the expected and the actual status are 4xx, the finding is only
    the advice `otherwise`."""
    if exchange.status is None or exchange.ended != "complete":
        raise Failed(exchange.problem or exchange.ended, exchange)
    if not any(status in (exchange.status, f"{exchange.status // 100}xx") for status in expected):
        refusals = all(str(status).startswith("4") for status in (exchange.status, *expected))
        raise Failed(
            f"the status is {exchange.status}, not {' or '.join(map(str, expected))}{_error_message(exchange)}",
            exchange,
            advice=otherwise if refusals else None,
        )


def _refused(exchange: Exchange, kinds: Any, dialect: Dialect, endpoint: str) -> None:
    """Checks only the status: the rule error-envelope reports errors of the wrong shape."""
    accepted: list[Kind] = kinds if isinstance(kinds, list) else [kinds]
    statuses = [status for kind in accepted for status in dialect.statuses(kind, endpoint) or ("4xx",)]
    pointer = REFUSALS.get(accepted[0])
    _status(exchange, list(dict.fromkeys(statuses)), Advice(OTHER_STATUS, pointer) if pointer else METHOD_STATUS)


def _param(exchange: Exchange, expected: list[str]) -> None:
    if "param" not in exchange.error:
        return  # error-envelope reports the shape
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


def _error_message(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return f": {message[:200]}" if isinstance(message, str) else ""


# Counts of the prompt, which can't be 0.
PROMPT_COUNTS = ("prompt_tokens", "input_tokens")


def counted(exchange: Exchange, name: str) -> int:
    """Returns a count of usage, such as `prompt_tokens`. Raises NotExercised if it is missing, or 0 for a prompt: other
    rules report that."""
    usage = exchange.answer.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if type(count) is not int:
        raise NotExercised(f"the answer has no usage.{name}")
    if count == 0 and name in PROMPT_COUNTS:
        raise NotExercised(f"usage.{name} is 0, which is impossible")
    return count
