"""Answers that say something of each model."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.server import answer


class ByModel:
    """Is the list of models as an object that has `said` under the name of each. Errors stay as they are."""

    def __init__(self, listing: ASGIApp, said: Mapping[str, Any]) -> None:
        self._listing = listing
        self._said = said

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_said(message: Message) -> None:
            if message["type"] == "http.response.body":
                listed = json.loads(message["body"])["data"]
                await answer.send_json(send, {model["id"]: self._said for model in listed}, [])

        await self._listing(scope, receive, send_said)
