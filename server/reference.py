"""GET /docs: the API reference, at the server's root and without a key.

It is an HTML page and not an operation of the API, so it isn't in the document that it shows."""

from collections.abc import Collection
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.document.loading import whole
from specvino.document.transforms import served_at
from specvino.portal.reference import ASSETS, page

PATH = "/docs"


class Reference:
    """ASGI middleware for the page. It raises Starlette's errors, so it runs inside the exception middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._router = Router(
            routes=[Route(PATH, _page), Mount(PATH, Files("specvino.portal", "reference", ASSETS))],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._router if scope["type"] == "http" and _is_ours(scope) else self.app)(scope, receive, send)


def _is_ours(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == PATH or path.startswith(f"{PATH}/")


@cache
def _html() -> str:
    # The addresses of the assets and of the servers are relative, for servers under a path of a proxy.
    return page("API reference", f"{PATH[1:]}/", served_at(PATH, whole()))


async def _page(_: Request) -> HTMLResponse:
    return HTMLResponse(_html())


class Files(StaticFiles):
    """The files of a package's folder that have these names, without the Python modules beside them."""

    def __init__(self, package: str, folder: str, names: Collection[str]) -> None:
        super().__init__(packages=[(package, folder)])
        self._names = names

    def lookup_path(self, path: str) -> Any:
        return super().lookup_path(path) if path in self._names else ("", None)
