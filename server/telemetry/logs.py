"""How the server logs: to stderr, as text or as JSON."""

from typing import Any, Literal

from pythonjsonlogger.core import RESERVED_ATTRS

LogFormat = Literal["text", "json"]

TAIL = "tail"
"""The attribute of a log record that stands behind its message in text, and not in JSON."""


def config(log_format: LogFormat) -> dict[str, Any]:
    """Returns what `logging.config.dictConfig` takes. Of uvicorn's own lines there are only warnings."""
    formatters: dict[LogFormat, dict[str, Any]] = {
        "text": {
            "()": "logging.Formatter",
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
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": formatters[log_format]},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "chosen", "stream": "ext://sys.stderr"}},
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "specvino": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
            "opentelemetry": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        },
    }
