"""Stored responses in generated requests: ids that exist, and links to responses that weren't stored."""

import contextlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

from schemathesis import Case, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import EnsureResourceAvailability

from specvino.conformance.fuzz.report import FuzzReport
from specvino.conformance.fuzz.server import BadStatus, NoAnswer, Server

ID = "response_id"

# The prefix of the document's example of an id, which is mostly generated.
EXAMPLE = "resp_"


class StoredIds:
    """A hook that gives most valid cases with a `response_id` the id of a stored response; those of `stateful` have ids
    of their own.

    Two of three responses are background responses, and streams are resumed near their beginning.
    """

    def __init__(self, server: Server, model: str, report: FuzzReport) -> None:
        self._server = server
        self._model = model
        self._report = report

    def apply(self, case: Case[Any]) -> None:
        meta = case.meta
        if ID not in (case.path_parameters or {}) or meta is None or not meta.generation.mode.is_positive:
            return
        draw = zlib.crc32(f"{case.method} {case.path_parameters[ID]} {case.query or ''}".encode())
        is_example = str(case.path_parameters[ID]).startswith(EXAMPLE)
        if meta.phase.name is TestPhase.STATEFUL or (draw % 4 == 0 and not is_example):
            return
        try:
            self._change(case, draw)
        except NoAnswer as silence:  # the request is sent unchanged
            self._report.silences.append((case.operation.label, str(silence)))
        except BadStatus:
            pass

    def _change(self, case: Case[Any], draw: int) -> None:
        id = self._server.new_response(self._model, background=draw % 3 > 0)
        if id is None:
            return
        self._report.with_stored_id += 1
        case.path_parameters = {ID: id}
        if "after" in (case.query or {}) and draw % 5 > 0:
            case.query = {**case.query, "after": min(self._server.input_items(id))}
        if "starting_after" in (case.query or {}) and draw % 5 > 0:
            case.query = {**case.query, "starting_after": draw % 7}


class NotStored:
    """Hooks that drop the failure of a link to a response which wasn't stored.

    `after_call` and `filter_failure` are hooks of Schemathesis. It follows links from every created response, since
    OpenAPI has no conditions for them."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def after_call(self, context: HookContext, case: Case[Any], response: Response) -> None:
        if isinstance(case.body, Mapping) and case.body.get("store") is False:
            with contextlib.suppress(ValueError, TypeError, KeyError):  # a stream or an error, which have no links
                self._ids.add(str(json.loads(response.content)["id"]))

    def filter_failure(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        """Returns whether the failure is kept."""
        return not isinstance(failure, EnsureResourceAvailability) or not self._ids.intersection(
            (case.path_parameters or {}).values()
        )
