"""Queries the server under test, to verify its refusals."""

import json
import re
import time
from collections.abc import Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from specvino.conformance.http.client import MOST_RETRIES, RETRIED, Target, tls, wait_of
from specvino.conformance.http.content import IDENTITY, BadContent, Content, TooLong
from specvino.document.operations import operations


class NoAnswer(OSError):
    """A query got no answer, or an unreadable one."""


class BadStatus(OSError):
    """A query got a status other than 2xx."""

    def __init__(self, status: int, path: str) -> None:
        super().__init__(f"{path} returns {status}")
        self.status = status


class Server:
    """Queries the server under test. Methods raise NoAnswer, and BadStatus for any status but 2xx."""

    def __init__(self, target: Target, document: Mapping[str, Any]) -> None:
        self._target = target
        self._paths = frozenset(operation.path for operation in operations(document) if not operation.is_only_at_root)
        self.count_tokens = cache(self._count_tokens)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Returns the names that GET /models lists."""
        return tuple(model["id"] for model in self._ask("/models")["data"])

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The facts in the server's own document (`x-facts`), by name; empty without such a document."""
        if "/openapi.json" not in self._paths:
            return {}
        try:
            facts = self._ask("/openapi.json").get("x-facts")
        except BadStatus:
            return {}
        return facts if isinstance(facts, dict) else {}

    def response(self, id: str) -> dict[str, Any] | None:
        """Returns the response stored under an id; None if there is none, or the document has no stored responses."""
        response: dict[str, Any] | None = self._stored("/responses/{response_id}", quote(id, safe=""))
        return response

    def new_response(self, model: str, *, background: bool) -> str | None:
        """Creates a response and returns its id; None if the server doesn't store it."""
        if "/responses/{response_id}" not in self._paths:
            return None
        body = {"input": "hi", "max_output_tokens": 16, "store": True, "background": background}
        try:
            created = self._ask("/responses", {"model": model, **body})
        except BadStatus as bad:
            if bad.status != 400:  # the server has no store
                raise
            return None
        return str(created["id"]) if created["store"] else None

    def conversation(self, id: str) -> dict[str, Any] | None:
        """Returns the conversation stored under an id; None if there is none."""
        conversation: dict[str, Any] | None = self._stored("/conversations/{conversation_id}", quote(id, safe=""))
        return conversation

    def new_conversation(self) -> str | None:
        """Creates a conversation with an item, and returns its id; None if the server stores none."""
        if "/conversations" not in self._paths:
            return None
        try:
            return str(self._ask("/conversations", {"items": [{"role": "user", "content": "hi"}]})["id"])
        except BadStatus as bad:
            if bad.status not in (400, 404):
                raise
            return None

    def input_items(self, id: str) -> set[str]:
        """Returns the ids of all input items of a stored response."""
        return self._item_ids("/responses/{response_id}/input_items", id)

    def conversation_items(self, id: str) -> set[str]:
        """Returns the ids of all items of a conversation."""
        return self._item_ids("/conversations/{conversation_id}/items", id)

    def _item_ids(self, path: str, id: str) -> set[str]:
        ids: set[str] = set()
        query = {"limit": "100", "order": "asc"}
        while page := self._stored(path, quote(id, safe=""), query):
            ids.update(item["id"] for item in page["data"])
            if not page["has_more"]:
                break
            query["after"] = page["last_id"]
        return ids

    def _stored(self, path: str, id: str, query: Mapping[str, str] = MappingProxyType({})) -> Any:
        if path not in self._paths:
            return None
        try:
            return self._ask(f"{re.sub('{.*}', id, path)}?{urlencode(query)}")
        except BadStatus as bad:
            if bad.status != 404:
                raise
            return None

    def _count_tokens(self, text: str) -> int | None:
        """Returns the number of a text's tokens without special tokens; None if the server has no tokenize endpoint."""
        if "/tokenize" not in self._paths:
            return None
        if not text:
            return 0
        body = {"model": self.models[0], "text": text, "add_special_tokens": False}
        return len(self._ask("/tokenize", body)["tokens"])

    def status(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> int | None:
        """Returns the status of an answer, None without an answer. `key` replaces the target's key."""
        try:
            return self._send(method, path, body, key or self._target.key)[0]
        except NoAnswer:
            return None

    def _ask(self, path: str, body: Any = None) -> Any:
        status, content = self._send("GET" if body is None else "POST", path, body, self._target.key)
        if not 200 <= status < 300:
            raise BadStatus(status, path)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise NoAnswer(f"{path} doesn't return JSON") from None

    def _send(self, method: str, path: str, body: Any, key: str | None) -> tuple[int, bytes]:
        """Sends a request, and retries while the server is busy (Retry-After)."""
        for _ in range(MOST_RETRIES):
            status, headers, content = self._once(method, path, body, key)
            wait = wait_of(headers)
            if status not in RETRIED or wait is None:
                return status, content
            time.sleep(wait)
        status, _, content = self._once(method, path, body, key)
        return status, content

    def _once(self, method: str, path: str, body: Any, key: str | None) -> tuple[int, Mapping[str, str], bytes]:
        target = self._target
        deadline = time.monotonic() + target.timeout
        try:
            with httpx.stream(
                method,
                target.url.rstrip("/") + path,
                content=None if body is None else json.dumps(body).encode(),
                headers={"content-type": "application/json", **IDENTITY, **target.extra, **target.credentials(key)},
                timeout=target.timeout,
                follow_redirects=False,
                trust_env=False,
                verify=tls(target.cacert, target.insecure),
            ) as answer:
                content = Content(answer.headers.get("content-encoding", ""))
                for piece in answer.iter_raw():
                    content.add(piece)
                    if time.monotonic() > deadline:
                        raise NoAnswer(f"the answer to {method} {path} doesn't end")
                return answer.status_code, answer.headers, bytes(content.decoded)
        except (TooLong, BadContent) as error:
            raise NoAnswer(f"{method} {path}: {error}") from None
        except (httpx.HTTPError, UnicodeError) as error:
            raise NoAnswer(f"{method} {path} got no answer: {error or type(error).__name__}") from None
