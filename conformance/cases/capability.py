"""Capabilities, which are optional for a server: `capabilities.yaml` of each endpoint. Each is tried once, before the
first case that needs it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from specvino.conformance.cases.case import CAPABILITIES, FOLDER, BadCase
from specvino.conformance.checks import all_checks
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.rules.shapes import ERRORS_OUTSIDE
from specvino.conformance.session.session import UNSUPPORTED, Session
from specvino.conformance.session.steps import values_at
from specvino.conformance.verdict import Failed, NotExercised, Refused
from specvino.document import yaml_text
from specvino.document.validator import Validator


@dataclass(frozen=True)
class Capability:
    """An optional feature of a server. `name` is `chat.tools_auto`, `rule` its id, `chat/capabilities/tools-auto`;
    `cases/capability.schema.json` describes the rest."""

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
        """Returns whether a system's document, unlike the whole one, refuses the request."""
        return self.body is not None and dialect.alone_refuses(self.endpoint, {"model": "any", **self.body})

    @property
    def forces_call(self) -> bool:
        """Whether the model must call a tool, before which some servers let it talk."""
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
    """Returns every capability by its name, in the order of endpoints and files. Raises BadCase."""
    validator = Validator(json.loads((FOLDER / "capability.schema.json").read_text("utf-8")))
    found: dict[str, Capability] = {}
    for folder in sorted(FOLDER.iterdir(), key=lambda path: path.name):
        if not folder.is_dir() or not (folder / CAPABILITIES).is_file():
            continue
        content = yaml_text.load((folder / CAPABILITIES).read_text("utf-8"))
        if problems := list(validator.violations(content)):
            raise BadCase(f"{folder.name}/{CAPABILITIES}: {problems[0]}")
        for key, entry in content["capabilities"].items():
            name = f"{folder.name}.{key.replace('-', '_')}"
            found[name] = Capability(
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
    return found


async def ask(session: Session, capability: Capability) -> None:
    """Tries a capability. Raises Refused or Failed if the server is without it, NotExercised or Unreadable if the
    answer doesn't show it."""
    if capability.check is not None:
        await all_checks()[capability.check](session, capability.endpoint)
        return
    if capability.is_refused_by(session.dialect):
        raise NotExercised(f"the document of {session.dialect.name} refuses the request")
    exchange = await session.send(capability.endpoint, capability.body)
    if exchange.status in UNSUPPORTED and _says_so(session, capability.endpoint, exchange):
        raise Refused(f"the server answers {exchange.status}: {_message(exchange)}")
    if not exchange.ok:
        # Where the path doesn't exist, the error is that of any unknown path.
        absent = capability.spec.startswith("/paths/") and exchange.status in (404, 405)
        failed = (exchange.status or 0) >= 500
        why = "fails in place of refusing it" if failed else "refuses it without an error object that says so"
        raise Failed(
            f"the server doesn't do it, and {why}: {exchange}",
            exchange,
            advice=ERRORS_OUTSIDE if absent else None,
        )
    found = values_at(exchange.answer, capability.path)
    if missing := _missing(exchange.answer, capability.path):
        found = []
    if not found or not capability.is_shown_by(found[0][1], exchange):
        cut = [output for output in outputs(exchange) if output.reason == "length"]
        if any(has_reasoning(exchange, output) for output in cut):
            raise NotExercised("the model's reasoning used up its tokens")
        if cut and capability.forces_call:
            raise NotExercised("the model talked until its tokens were used up, and might have called a tool then")
        asked = f"{_asked(capability)} was answered with {exchange.status}, but"
        if missing:
            raise Failed(f"{asked} the answer has no {missing}", exchange)
        raise Failed(f"{asked} {capability.path} is {_cut(found[0][1])}", exchange)


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _missing(answer: Any, path: str) -> str:
    """Returns the beginning of a path at which there is nothing; it is empty if the path has a value."""
    names = path.split(".")
    places = (".".join(names[:depth]) for depth in range(1, len(names) + 1))
    return next((place for place in places if not any(value is not None for _, value in values_at(answer, place))), "")


def _asked(capability: Capability) -> str:
    """Returns the field of the request that asks for the capability: `n: 2`."""
    name = capability.spec.rpartition("/")[2]
    body = capability.body or {}
    return f"{name}: {_cut(body[name])}" if name in body else "the request"


def _cut(value: Any) -> str:
    """Returns a value as JSON; of a long one its beginning, as one quotation."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else repr(f"{text[:80]}…")


def _says_so(session: Session, endpoint: str, exchange: Exchange) -> bool:
    """Returns whether a refusal says what is wrong: as a JSON object, or in the form of the dialect's errors."""
    shape = session.dialect.error(endpoint, exchange.status or 0)
    if shape is None and exchange.content:
        return True  # a text
    try:
        return bool(exchange.json and isinstance(exchange.json, dict)) or bool(shape and shape.fits(exchange.json))
    except Unreadable:
        return False


def _message(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return message[:160] if isinstance(message, str) else exchange.content[:160].decode("utf-8", "replace")
