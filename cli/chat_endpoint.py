"""The chat endpoint of any server, over HTTP: the names of its models, and an answer as it is generated."""

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from specvino.conformance.streams.sse import Decoder

# Seconds until a server accepts a connection. An answer may take any time.
_CONNECT = 10

_JSON = {"Content-Type": "application/json"}


class ChatError(Exception):
    """A request failed; `str()` is the reason."""


@dataclass(slots=True)
class Answer:
    """An answer so far, folded from the chunks of its stream."""

    content: str = ""
    reasoning: str = ""
    calls: dict[Any, tuple[str, str]] = field(default_factory=dict)
    """Names and arguments of calls, by their index in the stream."""
    finish: str | None = None

    def add(self, chunk: dict[str, Any]) -> None:
        """Adds a chunk; one without a choice, such as that of the usage, has no text. Raises AttributeError,
        LookupError or TypeError for what is no chunk."""
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self.content += delta.get("content") or delta.get("refusal") or ""
            self.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
            self.finish = choice.get("finish_reason") or self.finish
            for part in delta.get("tool_calls") or ():
                self._add_call(part)

    def _add_call(self, part: dict[str, Any]) -> None:
        index, function = part.get("index", len(self.calls)), part.get("function") or {}
        name, arguments = self.calls.get(index, ("", ""))
        self.calls[index] = name + (function.get("name") or ""), arguments + (function.get("arguments") or "")


class Endpoint:
    """The chat endpoint below a base URL. As a context, it closes its connections at the end."""

    def __init__(self, base_url: str, key: str | None, cacert: Path | None = None) -> None:
        """cacert: a file of CA certificates instead of the default ones. Raises ChatError if it has none."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.url = base_url.rstrip("/")
        verify = True if cacert is None else _trusting(cacert)
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(None, connect=_CONNECT), verify=verify)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._client.close()

    def models(self) -> list[str]:
        """Returns the names of the models, the default one first. Raises ChatError."""
        try:
            response = self._client.get(f"{self.url}/models")
            _check(response)
            return [_text(model["id"]) for model in response.json()["data"]]
        except httpx.HTTPError as error:
            raise ChatError(f"{self.url} can't be reached: {error}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ChatError(f"{self.url}/models isn't a list of models: is this the base URL of the API?") from error

    def answer(self, model: str, messages: list[dict[str, Any]]) -> Iterator[Answer]:
        """Yields the answer to a conversation, again and again as it grows. Raises ChatError."""
        # In ASCII: answers may have lone surrogates, which UTF-8 can't express, and are sent back.
        body = json.dumps({"model": model, "messages": messages, "stream": True})
        answer, decoder = Answer(), Decoder()
        try:
            with self._client.stream("POST", f"{self.url}/chat/completions", content=body, headers=_JSON) as response:
                if response.status_code != 200:
                    response.read()
                _check(response)
                for part in response.iter_bytes():
                    for event in decoder.feed(part):
                        if event.data == "[DONE]":
                            continue
                        chunk = json.loads(event.data)
                        if isinstance(chunk, dict) and (error := chunk.get("error")):
                            raise ChatError(_message(error))
                        try:
                            answer.add(chunk)
                        except (AttributeError, LookupError, TypeError):
                            raise ChatError(
                                f"{self.url} sent an event that isn't a chunk: {event.data[:200]}"
                            ) from None
                        yield answer
        except httpx.HTTPError as error:
            raise ChatError(f"the connection to {self.url} broke: {error}") from error
        except (ValueError, RecursionError) as error:
            raise ChatError(f"{self.url} sent an event that isn't JSON: {error}") from error


def _trusting(cacert: Path) -> ssl.SSLContext:
    # Only here: these imports take longer than all others of a chat without the option.
    from specvino.conformance.http.client import tls
    from specvino.conformance.preflight import CannotRun, checked_certificates

    try:
        return tls(checked_certificates(cacert, insecure=False), insecure=False)
    except CannotRun as error:
        raise ChatError(str(error)) from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _check(response: httpx.Response) -> None:
    if response.is_success:
        return
    try:
        message = _message(response.json()["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        message = response.text[:500] or response.reason_phrase
        if "text/html" in response.headers.get("content-type", ""):
            message = f"{response.reason_phrase}, as an HTML page: is {response.url} below the base URL of an API?"
    raise ChatError(f"{response.status_code}: {message}")


def _message(error: Any) -> str:
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)
