"""A server that answers as it is told to."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Answer:
    """With `hangs` the server sends nothing after it, and keeps the connection. With `cut` it closes it before the end,
    and with `lost` before the beginning."""

    body: str = "{}"
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    cut: bool = False
    lost: bool = False


def events(*data: str, hangs: bool = False) -> Answer:
    return Answer("".join(f"data: {event}\n\n" for event in data), kind="text/event-stream", hangs=hangs)


def lines(*data: str) -> Answer:
    return Answer("".join(f"{line}\n" for line in data), kind="application/x-ndjson")


class Scripted(ThreadingHTTPServer):
    """Gives its answers in their order, the last one again and again; `asked` has the requests that came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.asked: list[_Handler] = []
        self.answers: list[Answer] = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def says(self, *answers: Answer) -> None:
        self.asked.clear()
        self.answers = list(answers)

    def __exit__(self, *error: Any) -> None:
        self.over.set()
        self.shutdown()
        super().__exit__(*error)

    def __enter__(self) -> Self:
        return self


class _Handler(BaseHTTPRequestHandler):
    server: Scripted
    sent: Any = None

    def do_GET(self) -> None:
        if said := self.rfile.read(int(self.headers.get("content-length", 0))):
            self.sent = json.loads(said)
        self.server.asked.append(self)
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer.lost:
            return
        body = answer.body.encode()
        if answer.hangs and not body:
            self.server.over.wait()
            return
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind)
        self.send_header("content-length", str(len(body) + (answer.hangs or answer.cut)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if answer.hangs:
            self.server.over.wait()

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, *args: object) -> None:
        """Says nothing."""
