"""Makes generated requests useful: most reach the engine, and none keeps it busy for minutes.

Before a valid request is sent:

- 9 of 10 get the name of a served model; otherwise nearly all answers would be 404.
- 9 of 10 lose previous_response_id, which would have to be stored.
- 9 of 10 lose fields for which they would be refused: speculative decoding, fields that exclude each other, choices of
  missing tools, files and audio, images that don't exist, and most other images (consistent_requests.py).
- 1 of 4 without `stream` become streams.
- 9 of 10 without a token limit get a small one, and so do all structured outputs and forced calls, which few models end
  by themselves. The others must not ignore the end of the text.
- Limits that an engine would use up are reduced. Huge ones, which are refused, stay.
- With many choices the limit is reduced, and if that isn't enough, the number of prompts and choices.

Changes only depend on the request, so a run can be repeated and a failure can shrink. Schemathesis validates a changed
request again. Invalid requests are sent unchanged, except with `frugal`, for other vendors' servers: then every request
gets a small limit, since the server may accept it.
"""

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from schemathesis import Case

from specvino.conformance.endpoints import has_field, with_value
from specvino.conformance.fuzz.consistent_requests import consistent
from specvino.conformance.fuzz.document import Object, body_fields
from specvino.conformance.fuzz.prompts import is_several
from specvino.conformance.fuzz.refusals.structured_outputs import constrains
from specvino.conformance.fuzz.refusals.tools import forces
from specvino.conformance.fuzz.report import FuzzReport
from specvino.document.conditions import value_at
from specvino.document.loading import group
from specvino.document.operations import Operation, operations

# The largest limit added to a request without one, in tokens.
SMALL = 16

# The largest limit that isn't reduced, in tokens.
LARGE = 64

# The largest number of tokens of a request over all its choices.
BUDGET = 512

# A limit above any model's context, which is refused, in tokens.
HUGE = 1 << 24


class RequestLimits:
    """A hook that changes requests of a document's operations and counts the changes in the report."""

    def __init__(
        self,
        document: Object,
        models: Sequence[str],
        report: FuzzReport,
        facts: Mapping[str, Any],
        *,
        frugal: bool = False,
    ) -> None:
        self._fields = {
            operation.id: body_fields(operation) | {*limit_fields(operation)} for operation in operations(document)
        }
        self._models = models
        self._report = report
        # Fields of speculative decoding require a server with a draft model.
        self._facts = {"drafting": None, **facts}
        self._frugal = frugal

    def apply(self, case: Case[Any]) -> None:
        if not isinstance(case.body, dict) or case.meta is None:
            return
        definition = case.operation.definition.raw
        fields = self._fields[definition["operationId"]]
        if not case.meta.generation.mode.is_positive:
            if self._frugal:
                case.body = with_small_limit(case.body, fields)
            return
        before, endpoint = case.body, definition["x-endpoint"]
        case.body = adjusted(case.body, endpoint, fields, self._models, self._facts, frugal=self._frugal)
        if fields.intersection(group("token_limits").paths) and not limits(before) and not _is_endless(case.body):
            self._report.unlimited += 1
            self._report.limited += bool(limits(case.body))


def has_unknown_reference(case: Case[Any], models: Sequence[str]) -> bool:
    """Returns whether a request names an unknown model or continues a made-up response, so that its refusal is
    right."""
    body = case.body
    return isinstance(body, dict) and (
        body.get("model", models[0]) not in models or body.get("previous_response_id") is not None
    )


def limits(body: Object) -> list[str]:
    """Returns the names of the token limits in a body."""
    return [name for name in group("token_limits").paths if value_at(body, name) is not None]


def limit_fields(operation: Operation) -> list[str]:
    """Returns the names of the token limits that an operation's body may have, as dotted paths."""
    body = operation.body
    return [name for name in group("token_limits").paths if body and has_field(operation.document, body, name)]


def with_small_limit(body: Object, fields: Collection[str]) -> dict[str, Any]:
    """Returns the body with a small token limit, and otherwise unchanged."""
    names = [name for name in group("token_limits").paths if name in fields]
    small = {name: value for name in names if _is_number(value := value_at(body, name))}
    changed = dict(body)
    for name, value in small.items():
        changed = with_value(changed, name, min(value, LARGE))
    missing = names and all(value_at(body, name) is None for name in names)
    return with_value(changed, names[0], SMALL) if missing else changed


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def adjusted(
    body: Object,
    endpoint: str,
    fields: Collection[str],
    models: Sequence[str],
    facts: Mapping[str, Any],
    *,
    frugal: bool = False,
) -> dict[str, Any]:
    """Returns a valid body as it is sent. `fields` are those of the operation; `models` are served; `facts` are the
    server's."""
    draw = _draw_from(body)
    changed = consistent(body, endpoint, facts, images=not draw(4), draw=draw) if draw(10) else dict(body)
    if "model" in fields and draw(10):
        changed["model"] = models[draw(len(models))]
    if draw(10):
        changed.pop("previous_response_id", None)
    if "stream" in fields and "stream" not in changed and not draw(4):
        changed["stream"] = True
    names = [name for name in group("token_limits").paths if name in fields]
    if not names:
        return changed
    if not limits(changed) and (draw(10) or _is_endless(changed) or frugal):
        changed = with_value(changed, names[0], 1 + draw(SMALL))
    _reduce_choices(changed, BUDGET if limits(changed) else 1)
    if not limits(changed):
        changed.pop("ignore_eos", None)
        changed.pop("min_tokens", None)
    for name in limits(changed):
        if (limit := value_at(changed, name)) <= HUGE or frugal:
            limit = max(1, min(limit, LARGE, BUDGET // _choices(changed)))
            changed = with_value(changed, name, limit)
            if changed.get("min_tokens") is not None:
                changed["min_tokens"] = min(changed["min_tokens"], limit)
    return changed


def _is_endless(body: Object) -> bool:
    return forces(body) or constrains(body)


# Fields that may have several prompts.
_PROMPTS = ("prompt", "prompt_token_ids")


def _reduce_choices(body: dict[str, Any], most: int) -> None:
    for name in _PROMPTS:
        if is_several(body.get(name)):
            body[name] = body[name][:most]
    if _choices(body) > most:
        for name in ("n", "best_of"):
            if body.get(name) is not None:
                body[name] = 1


def _choices(body: Object) -> int:
    # In JSON Schema, 2.0 is an integer.
    return _prompts(body) * int(max(body.get("n") or 1, body.get("best_of") or 1))


def _prompts(body: Object) -> int:
    return max((len(body[name]) for name in _PROMPTS if is_several(body.get(name))), default=1)


def _draw_from(body: Mapping[str, Any]) -> Callable[[int], int]:
    """Returns a function that draws numbers below a bound, determined by the request."""
    state = zlib.crc32(json.dumps(body, sort_keys=True).encode())

    def draw(bound: int) -> int:
        nonlocal state
        state, number = divmod(state, bound)
        return number

    return draw
