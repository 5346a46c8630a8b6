"""A collector of what OpenTelemetry exports."""

import contextlib
import http.server
import threading
from collections.abc import Iterator

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(http.server.ThreadingHTTPServer):
    """Keeps what is exported to it, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Export)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.got: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": []}

    def spans(self) -> list[Span]:
        return [
            span
            for export in self.got["/v1/traces"]
            for resource in ExportTraceServiceRequest.FromString(export).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def metrics(self) -> set[str]:
        """The names of the metrics."""
        return {
            metric.name
            for export in self.got["/v1/metrics"]
            for resource in ExportMetricsServiceRequest.FromString(export).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


class _Export(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        self.server.got[self.path].append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        yield collector
        collector.shutdown()
