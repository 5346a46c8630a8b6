"""What is seen of the server from outside: its log, metrics and traces."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class LogStyle(StrEnum):
    TEXT = "text"
    JSON = "json"


LogFormat = Annotated[
    LogStyle,
    typer.Option(
        help="How the log on stderr is written: as text, or as a JSON object in each line. It never holds prompts, "
        "answers or queries."
    ),
]

MetricsPort = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="A port of its own for Prometheus' /metrics, which needs no API key there; 0 picks a free one. By "
        "default, /metrics is on the API's port and takes the API's keys.",
        show_default=False,
    ),
]

MetricsKeyFile = Annotated[
    Path | None,
    typer.Option(
        help="A file of the keys that /metrics takes in place of the API's, one per line. By default, the "
        "environment variable SPECVINO_METRICS_KEY."
    ),
]

OtlpTracesEndpoint = Annotated[
    str | None,
    typer.Option(
        help="The URL to which OpenTelemetry traces are sent (OTLP over HTTP), such as "
        "http://127.0.0.1:4318/v1/traces. Needs the extra `otel`."
    ),
]

OtlpMetricsEndpoint = Annotated[
    str | None,
    typer.Option(
        help="The URL to which OpenTelemetry's GenAI metrics are sent, such as http://127.0.0.1:4318/v1/metrics. "
        "Needs the extra `otel`."
    ),
]
