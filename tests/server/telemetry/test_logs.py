"""Lines of the log that aren't those of the access log."""

import json
import logging
import sys
from datetime import datetime

import pytest
from support.logs import written

from specvino.server.telemetry import logs


def record(message: str, *, failed: bool = False) -> logging.LogRecord:
    try:
        raise ValueError("why")
    except ValueError:
        error = sys.exc_info() if failed else None
    return logging.LogRecord("specvino.server", logging.WARNING, "", 0, message, None, error)


def test_text() -> None:
    assert written("text", record("plain")).endswith("WARNING specvino.server: plain\n")
    assert "ValueError: why" in written("text", record("request req_1 failed", failed=True))


def test_times_have_a_zone() -> None:
    time, _, _ = written("text", record("plain")).partition(" WARNING")
    assert datetime.fromisoformat(time).utcoffset() is not None


@pytest.mark.parametrize(("level", "shown"), [("debug", "DEBUG"), ("info", "INFO"), ("error", "ERROR")])
def test_the_level_is_that_of_our_messages(level, shown) -> None:
    loggers = logs.config("text", level)["loggers"]
    assert loggers["specvino"]["level"] == shown
    assert loggers["uvicorn"]["level"] == ("ERROR" if level == "error" else "WARNING")


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
