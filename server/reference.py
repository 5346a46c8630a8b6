"""GET /docs: the API reference, at the server's root and without a key.

It is a page for people and no operation of the API, so it isn't in the document that it shows."""

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.portal.reference import ASSETS, SYSTEMS, page

PATH = "/docs"


class Reference:
    """ASGI middleware. Its errors are those of Starlette, so it stands below what gives them their envelope."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        # The addresses are relative, for servers that stand below a path of a proxy.
        sources: list[dict[str, Any]] = [{"title": "This server", "slug": "here", "url": "openapi.json"}]
        sources += [{"title": name, "slug": system, "url": f"openapi.json?dialect={system}"} for system, name in SYSTEMS.items()]
        html = page("API reference", f"{PATH[1:]}/", {"sources": sources})

        async def reference(_: Request) -> HTMLResponse:
            return HTMLResponse(html)

        self._router = Router(
            routes=[Route(PATH, reference), Mount(PATH, _Assets(packages=[("specvino.portal", "reference")]))],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_ours = scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/"))
        await (self._router if is_ours else self.app)(scope, receive, send)


class _Assets(StaticFiles):
    """The page's files alone, not the Python beside them."""

    def lookup_path(self, path: str) -> Any:
        return super().lookup_path(path) if path in ASSETS else ("", None)
