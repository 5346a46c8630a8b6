"""Does Connexion's own validation refuse a body in chunks, fail for bytes that are no UTF-8, and take NaN for JSON?"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
from connexion import AsyncApp
from connexion.resolver import Resolver
from verdict import report

logging.disable()


async def handler(body: Any) -> dict[str, Any]:
    return {}


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
BODY = {"required": True, "content": {"application/json": {"schema": SCHEMA}}}
OPERATION = {"operationId": "create", "requestBody": BODY, "responses": {"200": {"description": "-"}}}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"post": OPERATION}}}


async def chunks() -> AsyncIterator[bytes]:
    yield b'{"n": 1}'


async def statuses() -> dict[str, int]:
    app = AsyncApp("app", resolver=Resolver(lambda operation_id: handler))
    app.add_api(DOCUMENT)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"content-type": "application/json"}
    bodies: dict[str, Any] = {"chunks": chunks(), "no UTF-8": b"\xff", "NaN": b'{"m": NaN}', "1.0": b'{"n": 1.0}'}
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return {
            name: (await client.post("/a", content=body, headers=headers)).status_code for name, body in bodies.items()
        }


WANTED = {"chunks": 200, "no UTF-8": 400, "NaN": 400, "1.0": 200}
statuses_of_bodies = asyncio.run(statuses())
report(
    statuses_of_bodies != WANTED,
    "; ".join(f"{name}: {status}, wanted {WANTED[name]}" for name, status in statuses_of_bodies.items()),
)
