"""What a server says about itself when it is asked: needed to tell whether its refusals are true."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode


class Server:
    """The server under test. Raises OSError where it doesn't answer, and for errors of HTTP."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        document: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        timeout: float = 60,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        authorization = {"Authorization": f"Bearer {key}"} if key else {}
        self._headers = {"Content-Type": "application/json", **headers, **authorization}
        self._timeout = timeout
        self._paths = frozenset(document["paths"])
        self._numbers: dict[str, int] = {}
        self.count_tokens = cache(self._count_tokens)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The names that GET /models lists."""
        return tuple(model["id"] for model in self._ask("/models")["data"])

    def stands_by(self, what: str, number: int) -> bool:
        """Whether the server has named this number each time that it spoke of `what`."""
        return self._numbers.setdefault(what, number) == number

    def response(self, id: str) -> dict[str, Any] | None:
        """The response that is stored under an id now; None where there is none, or no way to ask."""
        found: dict[str, Any] | None = self._stored("/responses/{response_id}", quote(id, safe=""))
        return found

    def new_response(self, model: str, *, background: bool) -> str | None:
        """The id of a response that was just stored, or is being made; None where the server stores none."""
        if "/responses/{response_id}" not in self._paths:
            return None
        asked = {"input": "hi", "max_output_tokens": 16, "store": True, "background": background}
        try:
            made = self._ask("/responses", {"model": model, **asked})
        except urllib.error.HTTPError as error:
            if error.code != 400:  # it was started without a store
                raise
            return None
        return str(made["id"]) if made["store"] else None

    def input_items(self, id: str) -> set[str]:
        """The ids of all items that a stored response answers."""
        ids: set[str] = set()
        query = {"limit": "100", "order": "asc"}
        while page := self._stored("/responses/{response_id}/input_items", quote(id, safe=""), query):
            ids.update(item["id"] for item in page["data"])
            if not page["has_more"]:
                break
            query["after"] = page["last_id"]
        return ids

    def _stored(self, path: str, id: str, query: Mapping[str, str] = MappingProxyType({})) -> Any:
        if path not in self._paths:
            return None
        try:
            return self._ask(f"{path.replace('{response_id}', id)}?{urlencode(query)}")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None

    def _count_tokens(self, text: str) -> int | None:
        """How many tokens a text is, without special ones; None where the server has no way to say it."""
        if "/tokenize" not in self._paths:
            return None
        if not text:
            return 0
        body = {"model": self.models[0], "text": text, "add_special_tokens": False}
        return len(self._ask("/tokenize", body)["tokens"])

    def status(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> int:
        """With which status a request is answered; with a `key`, that one is sent instead of the right one."""
        try:
            with self._open(method, path, body, {"Authorization": f"Bearer {key}"} if key else {}) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def _ask(self, path: str, body: Any = None) -> Any:
        with self._open("GET" if body is None else "POST", path, body) as answer:
            return json.load(answer)

    def _open(self, method: str, path: str, body: Any, headers: Mapping[str, str] = MappingProxyType({})) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data, {**self._headers, **headers}, method=method)
        return urllib.request.urlopen(request, timeout=self._timeout)
