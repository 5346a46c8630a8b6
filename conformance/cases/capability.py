"""Capabilities: optional features of a server, from the files `capabilities.yaml`. Each is probed once, before the
first case that needs it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from specvino.conformance.case_checks import all_checks
from specvino.conformance.cases.case import CAPABILITIES, FOLDER, BadCase
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.rules.shapes import ERRORS_OUTSIDE
from specvino.conformance.session.session import UNSUPPORTED, Session
from specvino.conformance.session.steps import values_at
from specvino.conformance.verdict import Failed, NotExercised, Refused, Unsuitable
from specvino.document import yaml_text
from specvino.document.validator import Validator


@dataclass(frozen=True)
class Capability:
    """An optional feature. `name` is `chat.tools_auto`, `rule` is `chat/capabilities/tools-auto`;
    `cases/capability.schema.json` describes the other fields."""

    name: str
    rule: str
    endpoint: str
    says: str
    spec: str
    body: Mapping[str, Any] | None
    path: str
    value: Mapping[str, Any] | None
    is_json: bool
    check: str | None

    def is_refused_by(self, dialect: Dialect) -> bool:
        """Returns whether the probe is valid by the complete document, but not by the dialect's."""
        return self.body is not None and dialect.alone_rejects(self.endpoint, {"model": "any", **self.body})

    @property
    def forces_call(self) -> bool:
        """Whether the probe requires a tool call. Some servers let the model write text before it."""
        return (self.body or {}).get("tool_choice", "auto") not in ("auto", "none")

    @cached_property
    def _validator(self) -> Validator:
        return Validator({"not": {"type": "null"}} if self.value is None else self.value)

    def is_shown_by(self, value: Any, exchange: Exchange) -> bool:
        """Returns whether the value at `path` shows the capability."""
        if self.is_json and not _is_json_object("".join(output.text for output in outputs(exchange))):
            return False
        return self._validator.fits(value)


@cache
def all_capabilities() -> dict[str, Capability]:
    """Returns all capabilities by name, in the order of endpoints and files. Raises BadCase."""
    validator = Validator(json.loads((FOLDER / "capability.schema.json").read_text("utf-8")))
    capabilities: dict[str, Capability] = {}
    for folder in sorted(FOLDER.iterdir(), key=lambda path: path.name):
        if not folder.is_dir() or not (folder / CAPABILITIES).is_file():
            continue
        content = yaml_text.load((folder / CAPABILITIES).read_text("utf-8"))
        if problems := list(validator.violations(content)):
            raise BadCase(f"{folder.name}/{CAPABILITIES}: {problems[0]}")
        for key, entry in content["capabilities"].items():
            name = f"{folder.name}.{key.replace('-', '_')}"
            capabilities[name] = Capability(
                name=name,
                rule=f"{folder.name}/capabilities/{key}",
                endpoint=folder.name,
                says=entry["says"],
                spec=entry["spec"],
                body=entry.get("send"),
                path=entry.get("path", ""),
                value=entry.get("value"),
                is_json=entry.get("is_json", False),
                check=entry.get("check"),
            )
    return capabilities


async def probe(session: Session, capability: Capability) -> None:
    """Probes a capability. Raises Refused or Failed if the server lacks it; NotExercised or Unreadable if the answer
    doesn't show it."""
    if capability.check is not None:
        await all_checks()[capability.check](session, capability.endpoint)
        return
    if capability.is_refused_by(session.dialect):
        raise NotExercised(f"the request isn't valid by the document of {session.dialect.name}")
    exchange = await session.send(capability.endpoint, capability.body)
    if exchange.status in UNSUPPORTED and _has_error_body(session, capability.endpoint, exchange):
        raise Refused(f"the server answers {exchange.status}: {_message(exchange)}")
    if exchange.ended != "complete":
        raise Failed(f"the request isn't answered: {exchange.problem or exchange.ended}", exchange)
    if not exchange.ok:
        # A missing path has the error of any unknown path.
        absent = capability.spec.startswith("/paths/") and exchange.status in (404, 405)
        failed = (exchange.status or 0) >= 500
        how = "fails instead of refusing the request" if failed else "refuses the request without an error object"
        raise Failed(
            f"the feature isn't supported, and the server {how}: {exchange}",
            exchange,
            advice=ERRORS_OUTSIDE if absent else None,
        )
    values = values_at(exchange.answer, capability.path)
    if missing := _missing(exchange.answer, capability.path):
        values = []
    if not values or not capability.is_shown_by(values[0][1], exchange):
        truncated = [output for output in outputs(exchange) if output.reason == "length"]
        if any(has_reasoning(exchange, output) for output in truncated):
            raise Unsuitable("the model's reasoning used up its tokens")
        if truncated and capability.forces_call:
            raise Unsuitable("the model wrote text up to the token limit, before any tool call")
        request = f"{_requesting_field(capability)} was answered with {exchange.status}, but"
        if missing:
            raise Failed(f"{request} the answer has no {missing}", exchange)
        raise Failed(f"{request} {capability.path} is {_truncated(values[0][1])}", exchange)


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _missing(answer: Any, path: str) -> str:
    """Returns the shortest prefix of a path that has no value; empty if the path has one."""
    names = path.split(".")
    prefixes = (".".join(names[:depth]) for depth in range(1, len(names) + 1))
    return next((path for path in prefixes if not any(value is not None for _, value in values_at(answer, path))), "")


def _requesting_field(capability: Capability) -> str:
    """Returns the request field that asks for the capability, as in `n: 2`."""
    name = capability.spec.rpartition("/")[2]
    body = capability.body or {}
    return f"{name}: {_truncated(body[name])}" if name in body else "the request"


def _truncated(value: Any) -> str:
    """Returns a value as JSON; a long one truncated and quoted."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else repr(f"{text[:80]}…")


def _has_error_body(session: Session, endpoint: str, exchange: Exchange) -> bool:
    """Returns whether a refusal has an error body: a JSON object, or an error as the dialect defines it."""
    shape = session.dialect.error(endpoint, exchange.status or 0)
    if shape is None and exchange.content:
        return True  # plain text
    try:
        return bool(exchange.json and isinstance(exchange.json, dict)) or bool(shape and shape.fits(exchange.json))
    except Unreadable:
        return False


def _message(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return message[:160] if isinstance(message, str) else exchange.content[:160].decode("utf-8", "replace")
