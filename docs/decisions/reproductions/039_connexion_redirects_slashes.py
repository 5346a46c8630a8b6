"""Does Connexion redirect a path with a slash too many, which no document has?"""

import asyncio

import httpx
from connexion import AsyncApp
from connexion.middleware.exceptions import ExceptionMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.resolver import Resolver
from verdict import report

OPERATION = {"operationId": "list", "responses": {"200": {"description": "-"}}}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": OPERATION}}}


async def status() -> int:
    app = AsyncApp(
        "app", resolver=Resolver(lambda operation_id: dict), middlewares=[ExceptionMiddleware, RoutingMiddleware]
    )
    app.add_api(DOCUMENT, base_path="/v1")
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return (await client.get("/v1/a/")).status_code


found = asyncio.run(status())
report(found == 307, f"GET /v1/a/ is answered with {found}")
