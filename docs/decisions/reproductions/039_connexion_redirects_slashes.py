"""Does Connexion redirect a path with a slash too many, which no document has?"""

import asyncio
import warnings
from typing import Any

warnings.simplefilter("ignore")  # Connexion's own imports
import httpx  # noqa: E402
from connexion import AsyncApp  # noqa: E402
from connexion.middleware.exceptions import ExceptionMiddleware  # noqa: E402
from connexion.middleware.routing import RoutingMiddleware  # noqa: E402
from connexion.resolver import Resolution, Resolver  # noqa: E402
from verdict import report  # noqa: E402


class Handlers(Resolver):  # type: ignore[misc]
    def resolve(self, operation: Any) -> Resolution:
        return Resolution(dict, "list")


OPERATION = {"operationId": "list", "responses": {"200": {"description": "-"}}}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": OPERATION}}}


async def status() -> int:
    app = AsyncApp("app", resolver=Handlers(), middlewares=[ExceptionMiddleware, RoutingMiddleware])
    app.add_api(DOCUMENT, base_path="/v1")
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return (await client.get("/v1/a/")).status_code


found = asyncio.run(status())
report(found == 307, f"GET /v1/a/ is answered with {found}")
