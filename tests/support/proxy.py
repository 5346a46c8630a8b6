"""Proxies in front of a server: one breaks its answers, to show that a judge notices; one records what clients send."""

import contextlib
import http.client
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

UNCHANGED = {"content-length", "connection", "date", "server", "transfer-encoding"}


@dataclass
class Exchange:
    """A request and its answer, as the proxy passes them on. Header names are in small letters."""

    method: str
    path: str
    sent: bytes
    status: int
    headers: dict[str, str]
    body: bytes
    sent_headers: dict[str, str]


class _Patient(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # the client has left
            super().handle_error(request, client_address)


Fault = Callable[[Exchange], None]


@contextlib.contextmanager
def breaking(url: str, fault: Fault, prefix: str = "") -> Iterator[str]:
    """The address, with the path of `url` below `prefix`, of a proxy that lets `fault` change each exchange. The server
    doesn't see the prefix."""
    target = urlsplit(url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one packet

        def pass_on(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            connection = http.client.HTTPConnection(target.netloc)
            headers = dict(self.headers.items())
            try:
                with contextlib.suppress(ConnectionError):  # it was refused before it was whole
                    connection.request(self.command, self.path.removeprefix(prefix), sent or None, headers)
                answer = connection.getresponse()
            except ConnectionError:
                self.close_connection = True
                return
            received = {name.lower(): value for name, value in answer.getheaders() if name.lower() not in UNCHANGED}
            exchange = Exchange(self.command, self.path, sent, answer.status, received, answer.read(), headers)
            connection.close()
            fault(exchange)
            self.send_response(exchange.status)
            for name, value in exchange.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(exchange.body)))
            self.end_headers()
            self.wfile.write(exchange.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_QUERY = pass_on

        def log_message(self, *args: object) -> None:
            pass

    with _served(Handler) as port:
        yield f"http://127.0.0.1:{port}{prefix}{target.path}"


@contextlib.contextmanager
def recording(url: str) -> Iterator[tuple[str, list[Any]]]:
    """The address, with the path of `url`, of a proxy that passes answers on as they come, and a list to which it adds
    the JSON bodies of requests.
    """
    target = urlsplit(url)
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            if sent:
                bodies.append(json.loads(sent))
            connection = http.client.HTTPConnection(target.netloc)
            connection.request(self.command, self.path, sent or None, dict(self.headers.items()))
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in UNCHANGED:
                    self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            while piece := answer.read1(1 << 16):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            connection.close()

        do_GET = do_POST = do_DELETE = pass_on

        def log_message(self, *args: object) -> None:
            pass

    with _served(Handler) as port:
        yield f"http://127.0.0.1:{port}{target.path}", bodies


@contextlib.contextmanager
def _served(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with _Patient(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
