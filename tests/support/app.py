"""The whole app in this process, asked through ASGI: no socket, no model."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx

from specvino.engine.protocol import Engine
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers import bind
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModel
from specvino.server.app import create_app
from specvino.server.settings import Settings
from specvino.server.telemetry.telemetry import Telemetry
from support import routes_validated_once  # noqa: F401 - for its effect on Connexion

MINIMAL = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def make_app(engine: Engine | None = None, settings: Settings | None = None, limits: Limits | None = None) -> Any:
    engine, settings = engine or ScriptedEngine(), settings or Settings()
    telemetry = Telemetry({"m": engine}, settings)
    handlers = bind([ServedModel(("m", "org/name"), 1, engine, telemetry.observers("m"))], limits=limits)
    return create_app(handlers, settings, telemetry=telemetry)


@dataclass
class Client:
    """Sends one request at a time."""

    engine: Engine = field(default_factory=ScriptedEngine)
    settings: Settings = field(default_factory=Settings)
    limits: Limits = field(default_factory=Limits)

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def exchange() -> httpx.Response:
            await self.engine.start()
            transport = httpx.ASGITransport(
                make_app(self.engine, self.settings, self.limits), raise_app_exceptions=False
            )
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, **options)

        return asyncio.run(exchange())

    def chat(self, **fields: Any) -> httpx.Response:
        return self.ask("POST", "/v1/chat/completions", json=MINIMAL | fields)

    def post(self, raw: bytes, **headers: str) -> httpx.Response:
        headers = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        return self.ask("POST", "/v1/chat/completions", content=raw, headers=headers)


def error_of(response: httpx.Response, status: int, code: str, *also: str) -> dict[str, Any]:
    """The error of an answer, after the envelope, the status, the code and what follows from it were checked."""
    from specvino.generated.errors import ERRORS, ErrorCode

    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    body = response.json()
    assert body.keys() == {"error"}
    error: dict[str, Any] = body["error"]
    assert error.keys() == {"message", "type", "param", "code", *also}
    assert error["code"] == code
    kind = ERRORS[ErrorCode(code)]
    assert kind.status == status
    assert error["type"] == kind.type
    assert error["message"]
    return error
