"""What a server says about itself when it is asked: needed to tell whether its refusals are true."""

import json
import urllib.request
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any


class Server:
    """The server under test. Raises OSError where it doesn't answer, and for errors of HTTP."""

    def __init__(self, base_url: str, key: str | None, document: Mapping[str, Any]) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._can_tokenize = "/tokenize" in document["paths"]
        self._stated: dict[str, int] = {}
        self.count_tokens = cache(self._count_tokens)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The names that GET /models lists."""
        return tuple(model["id"] for model in self._ask("/models")["data"])

    def stands_by(self, what: str, number: int) -> bool:
        """Whether the server has named this number each time that it spoke of `what`."""
        return self._stated.setdefault(what, number) == number

    def _count_tokens(self, text: str) -> int | None:
        """How many tokens a text is, without special ones; None where the server has no way to say it."""
        if not self._can_tokenize:
            return None
        if not text:
            return 0
        body = {"model": self.models[0], "text": text, "add_special_tokens": False}
        return len(self._ask("/tokenize", body)["tokens"])

    def _ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data, self._headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
