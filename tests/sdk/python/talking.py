"""A WebSocket that says what it is told to."""

import threading
from typing import Any, Self

from websockets.sync.server import ServerConnection, serve


class Talking:
    """Says its texts for each message that comes: of several lists the next one, the last one again and again. A number
    is a code with which it ends the connection. `asked` has the messages that came."""

    def __init__(self, *answers: list[str | int]) -> None:
        self.answers = list(answers)
        self.asked: list[str | bytes] = []
        self.headers: Any = None
        self._server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}/v1"

    def _talk(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.headers = connection.request.headers
        for message in connection:
            self.asked.append(message)
            for event in self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]:
                if isinstance(event, int):
                    connection.close(event, "over")
                    return
                connection.send(event)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.shutdown()
