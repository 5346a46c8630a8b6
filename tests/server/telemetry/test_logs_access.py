"""The lines of the access log."""

import json
import logging
import re
from typing import Any

import pytest
from support.logs import written

from specvino.generated.handlers import OPERATIONS
from specvino.handlers.measuring import GenerationRecord
from specvino.server.operations.exchange import Exchange
from specvino.server.settings import LogFormat
from specvino.server.telemetry import logs


def exchange(**members) -> Exchange:
    usual: dict[str, Any] = {
        "status": 200,
        "seconds": 1.23456,
        "complete": True,
        "operation": OPERATIONS["create_chat_completion"],
    }
    return Exchange(
        "req_1", "127.0.0.1:5", "POST", members.pop("path", "/v1/chat/completions"), {}, 0, **usual | members
    )


def generation(**members) -> GenerationRecord:
    usual: dict[str, Any] = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "first_token": 0.25,
        "last_token": 0.75,
        "outcomes": ["stop"],
    }
    return GenerationRecord(1, 1, 9, 0.5, 1, **usual | members)


@pytest.fixture
def logged(caplog, monkeypatch):
    """Logs an exchange, and returns the line that stands on stderr in a format."""
    monkeypatch.setattr(logging.getLogger("specvino"), "propagate", True)

    def line(log_format: LogFormat, of: Exchange) -> str:
        caplog.clear()
        with caplog.at_level(logging.INFO, "specvino"):
            logs.log_exchange(of)
        return written(log_format, caplog.records[0])

    return line


def test_text(logged) -> None:
    line = logged("text", exchange(notes={"generation": generation()}))
    assert re.sub(r"^\S+ \S+ ", "", line) == (
        'INFO specvino.access: 127.0.0.1:5 "POST /v1/chat/completions" 200 request_id=req_1 duration=1.2346 '
        "prompt_tokens=7 completion_tokens=3 time_to_first_token=0.25 time_per_output_token=0.25 finish_reason=stop\n"
    )


def test_json(logged) -> None:
    line = json.loads(logged("json", exchange(notes={"generation": generation(outcomes=["stop", "length"])})))
    assert line.pop("timestamp")
    assert line == {
        "level": "INFO",
        "logger": "specvino.access",
        "message": '127.0.0.1:5 "POST /v1/chat/completions" 200',
        "client": "127.0.0.1:5",
        "method": "POST",
        "path": "/v1/chat/completions",
        "status": 200,
        "request_id": "req_1",
        "duration": 1.2346,
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "time_to_first_token": 0.25,
        "time_per_output_token": 0.25,
        "finish_reason": ["stop", "length"],
    }


@pytest.mark.parametrize(
    ("operation", "path", "status", "level"),
    [
        ("get_health", "/health", 200, logging.DEBUG),
        ("get_health", "/health", 503, logging.DEBUG),  # while the model loads
        ("get_health", "/health", 500, logging.INFO),
        ("get_health", "/ping", 200, logging.DEBUG),
        ("get_liveness", "/health/live", 200, logging.DEBUG),
        (None, "/metrics", 200, logging.DEBUG),
        (None, "/metricsx", 200, logging.INFO),
        ("list_models", "/api/version", 200, logging.DEBUG),  # a path of the dialect ollama
        ("list_models", "/v1/models", 200, logging.INFO),
    ],
)
def test_what_monitoring_asks_is_of_no_interest_by_default(caplog, monkeypatch, operation, path, status, level) -> None:
    monkeypatch.setattr(logging.getLogger("specvino"), "propagate", True)
    with caplog.at_level(logging.DEBUG, "specvino"):
        logs.log_exchange(exchange(operation=operation and OPERATIONS[operation], path=path, status=status))
    assert [record.levelno for record in caplog.records] == [level]


def test_what_there_was_not_is_left_out(logged) -> None:
    line = json.loads(logged("json", exchange(status=404, error="not_found", complete=False)))
    assert line["error"] == "not_found"
    assert line["complete"] is False
    assert not line.keys() & {"prompt_tokens", "completion_tokens", "time_to_first_token", "finish_reason"}
    text = logged("text", exchange(complete=False, notes={"generation": generation(error="engine_restarted")}))
    assert " complete=false error=engine_restarted " in text


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("path", ["/a\nINFO forged", "/a\x1b[31m", '/a" 200', "/" + "a" * 9000, "/\udc80"])
def test_a_path_can_t_forge_a_line(logged, log_format, path) -> None:
    line = logged(log_format, exchange(path=path.encode("utf-8", "replace").decode()))
    assert line.count("\n") == 1
    assert line.isascii()
    assert "\x1b" not in line
    assert '" 200 forged' not in line
    assert len(line) < 1000
