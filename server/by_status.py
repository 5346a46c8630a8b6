"""Answers that are a status alone."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.handlers.errors import ApiError


class ByStatus:
    """Is an operation whose answers lose their bodies; an error becomes the status `denial`."""

    def __init__(self, operation: ASGIApp, denial: int) -> None:
        self._operation = operation
        self._denial = denial

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_bare(message: Message) -> None:
            if message["type"] == "http.response.start":
                await _send_status(send, message["status"])

        try:
            await self._operation(scope, receive, send_bare)
        except ApiError:
            await _send_status(send, self._denial)


async def _send_status(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})
