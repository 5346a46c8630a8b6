"""GET /: a page with a small chat for browsers, and the server's addresses as JSON for other clients.

It is no operation of the API, so it isn't in the document. A system that answers at / itself keeps its answer.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.server.page_headers import page_headers
from specvino.server.reference import PATH as DOCS
from specvino.server.reference import Files
from specvino.server.settings import Settings
from specvino.server.telemetry.metrics_page import PATH as METRICS

FILES = "/web"
"""The folder with the files of the page."""

_ASSETS = ("chat.css", "chat.js")

_PAGE = Path(__file__).with_name("index.html")

_HEADERS = {
    **page_headers({"require-trusted-types-for": "'script'", "trusted-types": "'none'"}),
    "Cache-Control": "no-cache",
    "Vary": "Accept",
}


class Web:
    """ASGI middleware for / and the files of its page. It raises Starlette's errors, so it runs inside the exception
    middleware."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._settings = settings
        self._version = version("specvino")
        self._text = settings.system.texts.get("/") if settings.system else None
        pages = [Mount(FILES, Files("specvino.server", "web", _ASSETS))] if settings.web else []
        self._router = Router(routes=[Route("/", self._root), *pages], redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._router if scope["type"] == "http" and self._is_ours(scope) else self.app)(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        path: str = scope["path"]
        is_root = path == "/" and scope["method"] in ("GET", "HEAD")
        return is_root or (self._settings.web and path.startswith(f"{FILES}/"))

    async def _root(self, request: Request) -> Response:
        accepted = request.headers.get("accept", "")
        if self._settings.web and "text/html" in accepted:
            return FileResponse(_PAGE, headers=_HEADERS)
        # A text of the system's, except for the page, which asks for JSON.
        if self._text is not None and not (self._settings.web and "application/json" in accepted):
            return PlainTextResponse(self._text, headers={"Vary": "Accept"})
        return JSONResponse(self._addresses(), headers={"Vary": "Accept"})

    def _addresses(self) -> dict[str, Any]:
        """Returns the facts that the page needs before it has a key. Addresses are relative, for servers under a path
        of a proxy."""
        settings = self._settings
        addresses = {"base_url": settings.base_path, "openapi": "/openapi.json"}
        if settings.web:
            addresses["docs"] = DOCS
        if settings.telemetry.metrics_port is None:
            addresses["metrics"] = METRICS
        relative = {name: path[1:] for name, path in addresses.items()}
        dialect = {"dialect": settings.system.name} if settings.system else {}
        return {
            "name": "specvino",
            "version": self._version,
            **dialect,
            **relative,
            "key_required": bool(settings.keys),
        }
