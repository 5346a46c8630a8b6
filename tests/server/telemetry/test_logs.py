"""Lines of the log that aren't those of the access log."""

import json
import logging
import sys

from support.logs import written


def record(message: str, *, failed: bool = False) -> logging.LogRecord:
    try:
        raise ValueError("why")
    except ValueError:
        error = sys.exc_info() if failed else None
    return logging.LogRecord("specvino.server", logging.WARNING, "", 0, message, None, error)


def test_text() -> None:
    assert written("text", record("plain")).endswith("WARNING specvino.server: plain\n")
    assert "ValueError: why" in written("text", record("request req_1 failed", failed=True))


def test_json_is_a_line_each_with_tracebacks_in_it() -> None:
    line = written("json", record("request req_1 failed", failed=True))
    assert line.count("\n") == 1
    logged = json.loads(line)
    assert (logged["level"], logged["logger"], logged["message"]) == (
        "WARNING",
        "specvino.server",
        "request req_1 failed",
    )
    assert "ValueError: why" in logged["exc_info"]
    assert logged["timestamp"]
