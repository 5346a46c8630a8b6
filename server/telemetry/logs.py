"""Logging to stderr, as text or as JSON.

The access log has a line for each exchange with its ID, tokens and times, and never a query, a key or a prompt.
"""

import logging
import sys
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pythonjsonlogger.core import RESERVED_ATTRS

from specvino.server.operations.exchange import Exchange
from specvino.server.settings import LogFormat, LogLevel
from specvino.server.telemetry.metrics_page import PATH as METRICS

TAIL = "tail"
"""The attribute of a log record that is appended to its message in the text format, but not in JSON."""


class _CurrentStderr(logging.StreamHandler[Any]):
    """Writes to what `sys.stderr` is at the time: a progress display on a terminal replaces it."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, stream: Any) -> None:
        pass


class _WithZone(logging.Formatter):
    """Times are local, with their distance from UTC."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created).astimezone().isoformat(" ", "milliseconds")


def config(log_format: LogFormat, log_level: LogLevel = "info") -> dict[str, Any]:
    """Returns the argument of `logging.config.dictConfig`. uvicorn logs only warnings."""
    formatters: dict[LogFormat, dict[str, Any]] = {
        "text": {
            "()": _WithZone,
            "fmt": f"%(asctime)s %(levelname)s %(name)s: %(message)s%({TAIL})s",
            "defaults": {TAIL: ""},
        },
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "%(levelname)s %(name)s %(message)s",
            "rename_fields": {"levelname": "level", "name": "logger"},
            "reserved_attrs": [*RESERVED_ATTRS, TAIL],
            "timestamp": True,
        },
    }
    level = log_level.upper()
    others = level if level == "ERROR" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": formatters[log_format]},
        "handlers": {"stderr": {"()": _CurrentStderr, "formatter": "chosen"}},
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": others, "propagate": False},
            "specvino": {"handlers": ["stderr"], "level": level, "propagate": False},
            "opentelemetry": {"handlers": ["stderr"], "level": others, "propagate": False},
        },
    }


logger = logging.getLogger("specvino.access")

# What probes, monitoring and Ollama's clients ask all the time.
_ROUTINE = ("get_health", "get_liveness")
_ROUTINE_PATHS = (METRICS, "/api/version")

LONGEST = 200
"""The maximum number of characters of a path."""


def log_exchange(exchange: Exchange) -> None:
    """Logs an exchange. Its figures are members in JSON, and appended to the message as words in text."""
    level = logging.DEBUG if _is_routine(exchange) else logging.INFO
    path = _path(exchange)
    fields = _fields(exchange)
    words = {TAIL: "".join(f" {name}={_word(value)}" for name, value in fields.items())}
    members = {"client": exchange.client, "method": exchange.method, "path": path, "status": exchange.status}
    message = '%s "%s %s" %d'
    logger.log(level, message, exchange.client, exchange.method, path, exchange.status, extra=members | fields | words)


def _is_routine(exchange: Exchange) -> bool:
    """Returns whether an exchange needs no line: answers to probes and monitoring, also while the model loads."""
    is_probe = exchange.operation is not None and exchange.operation.id in _ROUTINE
    is_asked_often = is_probe or exchange.path in _ROUTINE_PATHS
    return is_asked_often and exchange.status is not None and (exchange.status < 400 or exchange.status == 503)


def _path(exchange: Exchange) -> str:
    # Clients must not be able to break the line.
    return quote(exchange.path[:LONGEST])


def _fields(exchange: Exchange) -> dict[str, Any]:
    fields: dict[str, Any] = {"request_id": exchange.request_id, "duration": _seconds(exchange.seconds)}
    if not exchange.complete:
        fields["complete"] = False
    generation = exchange.generation
    if error := exchange.error or (generation and generation.error):
        fields["error"] = error
    if generation is not None:
        figures = {
            "prompt_tokens": generation.prompt_tokens,
            "completion_tokens": generation.completion_tokens,
            "time_to_first_token": _seconds(generation.first_token),
            "time_per_output_token": _seconds(generation.per_output_token),
            "finish_reason": generation.outcomes,
        }
        fields |= {name: value for name, value in figures.items() if value is not None}
    return fields


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
