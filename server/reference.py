"""GET /docs: the API reference of the running server, at its root and without a key; it can send requests.

It is an HTML page and not an operation of the API, so it isn't in the document that it shows."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.document.loading import whole
from specvino.document.operations import JSON, METHODS, operations
from specvino.portal.reference import ASSETS, SCRIPT, page, script
from specvino.server.page_headers import NOSNIFF, page_headers

PATH = "/docs"

# Scalar sets styles of elements, and has its fonts and some images inside.
_HEADERS = page_headers({"style-src": "'self' 'unsafe-inline'", "font-src": "data:"})


class Reference:
    """ASGI middleware for the page. It raises Starlette's errors, so it runs inside the exception middleware."""

    def __init__(self, app: ASGIApp, document: Callable[[str], Awaitable[tuple[dict[str, Any], str]]]) -> None:
        """`document` returns the server's document for a page at a path, and the name of its model."""
        self.app = app
        self._document = document
        self._made: tuple[Any, str] = (None, "")
        self._router = Router(
            routes=[
                Route(PATH, self._page),
                Route(f"{PATH}/{SCRIPT}", _script),
                Mount(PATH, Files("specvino.portal", "reference", ASSETS)),
            ],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._router if scope["type"] == "http" and _is_ours(scope) else self.app)(scope, receive, send)

    async def _page(self, _: Request) -> HTMLResponse:
        document, model = await self._document(PATH)
        described, html = self._made
        if document["components"] is not described:  # changed by models that have loaded
            # The addresses of the assets and of the servers are relative, for servers under a path of a proxy. In a
            # thread: it takes as long as some steps of the model.
            html = await asyncio.to_thread(_html, document, model)
            self._made = (document["components"], html)
        return HTMLResponse(html, headers=_HEADERS)


async def _script(request: Request) -> Response:
    content, tag = await asyncio.to_thread(_tagged_script)
    response = Response(content, media_type="text/javascript", headers={"ETag": tag, **NOSNIFF})
    is_known = StaticFiles().is_not_modified(response.headers, request.headers)
    return NotModifiedResponse(response.headers) if is_known else response


@cache
def _tagged_script() -> tuple[bytes, str]:
    content = script()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _html(document: dict[str, Any], model: str) -> str:
    examples = {
        (operation.path, operation.method): operation.definition["requestBody"]["content"][JSON].get("examples", {})
        for operation in operations(whole())
        if operation.body is not None
    }
    paths = {
        path: {
            method: _with_examples(item[method], examples.get((path, method.upper()), {}), model)
            if method in METHODS
            else item[method]
            for method in item
        }
        for path, item in document["paths"].items()
    }
    return page("API reference", f"{PATH[1:]}/", {**document, "paths": paths}, sends=True)


def _with_examples(operation: dict[str, Any], examples: dict[str, Any], model: str) -> dict[str, Any]:
    """Returns an operation with examples that this server answers: those of the document, for its model. A server's own
    document has none, for the sake of test tools (decision 065)."""
    media = operation.get("requestBody", {}).get("content", {}).get(JSON)
    if media is None:
        return operation
    filled = {
        name: {
            **example,
            "value": {**example["value"], "model": model} if "model" in example["value"] else example["value"],
        }
        for name, example in (media.get("examples") or examples).items()
    }
    body = {**operation["requestBody"], "content": {JSON: {**media, "examples": filled}}}
    return {**operation, "requestBody": body}


def _is_ours(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == PATH or path.startswith(f"{PATH}/")


class Files(StaticFiles):
    """The files of a package's folder that have these names, without the Python modules beside them."""

    def __init__(self, package: str, folder: str, names: Collection[str]) -> None:
        super().__init__(packages=[(package, folder)])
        self._names = names

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(NOSNIFF)
        return response

    def lookup_path(self, path: str) -> Any:
        return super().lookup_path(path) if path in self._names else ("", None)
