"""Log records as the server writes them."""

import io
import logging
import logging.config

from specvino.server.settings import LogFormat
from specvino.server.telemetry import logs


def written(log_format: LogFormat, record: logging.LogRecord) -> str:
    """What stands on stderr."""
    formatter = logging.config.DictConfigurator(logs.config(log_format)).configure_formatter(
        logs.config(log_format)["formatters"]["chosen"]
    )
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    handler.handle(record)
    return stream.getvalue()
