"""An HTTP client that loses one field of the requests that are sent with it."""

import json

import httpx

from proofs.fields import addressed, drop


class BrokenProof(Exception):
    """Says that a proof proves nothing; it is no AssertionError, which a proof without its field must raise."""


class Dropping(httpx.HTTPTransport):
    """`field` None loses nothing. `dropped` counts."""

    def __init__(self, field: str | None) -> None:
        super().__init__(verify=False)  # reading certificates takes longer than a proof, and no server here has one
        self._field = field
        self.dropped = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._field is not None:
            request = self._without(request, *self._field.split(".", 1))
        response = super().handle_request(request)
        if response.status_code >= 500:
            raise BrokenProof(f"{request.url} was answered with {response.status_code}: {response.read().decode()}")
        return response

    def _without(self, request: httpx.Request, endpoint: str, path: str) -> httpx.Request:
        method, pattern = addressed(endpoint)
        if request.method != method or not pattern.fullmatch(request.url.path):
            return request
        if path.startswith("query."):
            return self._without_parameter(request, path.removeprefix("query."))
        body = json.loads(request.content)
        self.dropped += drop(body, path)
        headers = {"content-type": "application/json", "host": request.headers["host"]}
        return httpx.Request(method, request.url, headers=headers, json=body, extensions=request.extensions)

    def _without_parameter(self, request: httpx.Request, name: str) -> httpx.Request:
        self.dropped += name in request.url.params
        url = request.url.copy_remove_param(name)
        return httpx.Request(request.method, url, headers=request.headers, extensions=request.extensions)
