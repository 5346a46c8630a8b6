"""Has requests that speak of a stored response speak of one that is there: Schemathesis makes up ids that never are."""

import zlib
from typing import Any

from schemathesis import Case
from schemathesis.generation.meta import TestPhase

from specvino.conformance.fuzz.report import Report
from specvino.conformance.fuzz.server import Server

ID = "response_id"


class Kept:
    """Changes 3 of 4 valid cases with a `response_id`; those of `stateful` stay, which has ids of its own."""

    def __init__(self, server: Server, report: Report) -> None:
        self._server = server
        self._report = report

    def apply(self, case: Case[Any]) -> None:
        meta = case.meta
        if ID not in (case.path_parameters or {}) or meta is None or not meta.generation.mode.is_positive:
            return
        draw = zlib.crc32(f"{case.path_parameters[ID]}{case.query}".encode())
        if meta.phase.name is TestPhase.STATEFUL or draw % 4 == 0:
            return
        id = self._server.new_response(background=draw % 3 > 0)
        if id is None:
            return
        self._report.kept += 1
        case.path_parameters = {ID: id}
        if "after" in (case.query or {}) and draw % 5 > 0:
            case.query = {**case.query, "after": min(self._server.input_items(id))}
