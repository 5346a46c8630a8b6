"""Ids of stored responses and conversations for generated requests, and a filter for links to responses that were not
stored."""

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

ID, CONVERSATION, ITEM = "response_id", "conversation_id", "item_id"

# The prefixes of the document's example ids, which Schemathesis often uses.
EXAMPLES = ("resp_", "conv_")


class StoredIds:
    """A hook that sets `response_id` of most valid requests to a stored response, two of three a background response,
    and `conversation_id` and `item_id` to a conversation and its item. Streams are resumed near their beginning.
    Requests of the phase `stateful` keep their ids."""

    def __init__(self, server: Server, model: str, report: FuzzReport) -> None:
        self._server = server
        self._model = model
        self._report = report

    def apply(self, case: Case[Any]) -> None:
        meta, parameters = case.meta, case.path_parameters or {}
        named = parameters.get(ID) or parameters.get(CONVERSATION)
        if named is None or meta is None or not meta.generation.mode.is_positive:
            return
        draw = zlib.crc32(f"{case.method} {named} {case.query or ''}".encode())
        is_example = str(named).startswith(EXAMPLES)
        if meta.phase.name is TestPhase.STATEFUL or (draw % 4 == 0 and not is_example):
            return
        try:
            self._change(case, draw)
        except NoAnswer as error:  # the request is sent unchanged
            self._report.unanswered.append((case.operation.label, str(error)))
        except BadStatus:
            pass

    def _change(self, case: Case[Any], draw: int) -> None:
        if ID in case.path_parameters:
            id = self._server.new_response(self._model, background=draw % 3 > 0)
            items, parameters = self._server.input_items, {ID: id}
        else:
            id = self._server.new_conversation()
            items, parameters = self._server.conversation_items, {CONVERSATION: id}
        if id is None:
            return
        self._report.with_stored_id += 1
        if ITEM in case.path_parameters:
            parameters[ITEM] = min(items(id))
        case.path_parameters = parameters
        if "after" in (case.query or {}) and draw % 5 > 0:
            case.query = {**case.query, "after": min(items(id))}
        if "starting_after" in (case.query or {}) and draw % 5 > 0:
            case.query = {**case.query, "starting_after": draw % 7}


class NotStored:
    """Schemathesis hooks that drop failures of links to responses that weren't stored. OpenAPI links have no
    conditions, so Schemathesis follows them from every created response."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def after_call(self, context: HookContext, case: Case[Any], response: Response) -> None:
        if isinstance(case.body, Mapping) and case.body.get("store") is False:
            with contextlib.suppress(ValueError, TypeError, KeyError):  # streams and errors have no links
                self._ids.add(str(json.loads(response.content)["id"]))

    def filter_failure(self, context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        """Returns whether to keep the failure."""
        return not isinstance(failure, EnsureResourceAvailability) or not self._ids.intersection(
            (case.path_parameters or {}).values()
        )
