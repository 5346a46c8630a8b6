"""Two mistakes in one request: whichever is answered, all endpoints answer the same one, and nothing is fetched."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import httpx
import pytest

from specvino.document.loading import whole
from specvino.document.operations import by_endpoint
from specvino.document.walk import reached
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Image, ReadImage
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers import bind
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.models import ServedModel
from specvino.server.app import create_app
from specvino.server.settings import Settings

PATHS = {name: f"/v1{operation.path}" for name, operation in by_endpoint(whole()).items()}
ALL = ("chat", "completions", "responses")
CONVERSATIONS = ("chat", "responses")

REMOTE = "https://images.test/a.png"
LONG = "word " * 5000


@dataclass(frozen=True)
class Mistake:
    """A mistake by endpoint: the fields that make it, parts added to the prompt, and what the error names.

    `vision` says which models take it for one, None for all. In a `param`, `{part}` is the part's path.
    """

    code: str
    params: dict[str, str]
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    vision: bool | None = None


def same(code: str, param: str, on: tuple[str, ...] = ALL, **fields: Any) -> Mistake:
    """A mistake whose fields have the same names everywhere."""
    return Mistake(code, dict.fromkeys(on, param), dict.fromkeys(on, fields))


def tokens(code: str, value: int, param: str | None = None, **fields: Any) -> Mistake:
    """One about the limit on tokens, `param` if another field is blamed."""
    names = {"chat": "max_completion_tokens", "completions": "max_tokens", "responses": "max_output_tokens"}
    return Mistake(
        code,
        {endpoint: param or name for endpoint, name in names.items()},
        {endpoint: {name: value, **fields} for endpoint, name in names.items()},
    )


def image(code: str, url: str, vision: bool | None) -> Mistake:
    parts: dict[str, dict[str, Any]] = {
        "chat": {"type": "image_url", "image_url": {"url": url}},
        "responses": {"type": "input_image", "image_url": url},
    }
    return Mistake(code, dict.fromkeys(CONVERSATIONS, "{part}"), parts=parts, vision=vision)


def formatted(code: str, param: str, schema: Any, **fields: Any) -> Mistake:
    """One about structured outputs: `param`, if it isn't a field of its own, goes on from the schema's path."""
    paths = {"chat": "response_format.json_schema.schema", "responses": "text.format.schema"}
    named = {"name": "n", "schema": schema}
    return Mistake(
        code,
        {endpoint: paths[endpoint] + param if param.startswith(".") else param for endpoint in CONVERSATIONS},
        {
            "chat": {"response_format": {"type": "json_schema", "json_schema": named}, **fields},
            "responses": {"text": {"format": {"type": "json_schema", **named}}, **fields},
        },
    )


def function(parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


FUNCTION = function({"type": "object"})
SOUND = {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}}

MISTAKES = {
    # What the document's schema says.
    "temperature above 2": same("decimal_above_max_value", "temperature", temperature=3),
    "too many stops": same("array_above_max_length", "stop", stop=["a", "b", "c", "d", "e", "f", "g", "h", "i"] * 9),
    "two settings for drafts": same(
        "invalid_value",
        "assistant_confidence_threshold",
        assistant_confidence_threshold=0.5,
        num_assistant_tokens=3,
    ),
    # What the pipeline's steps find, in their order.
    "a penalty in a search": same("invalid_value", "best_of", best_of=2, frequency_penalty=1),
    "an unknown model": same("model_not_found", "model", model="other"),
    "too many tokens": tokens("integer_above_max_value", 2000),
    "too wide a search": same("integer_above_max_value", "best_of", best_of=21),
    "n above best_of": same("invalid_value", "n", n=3, best_of=2),
    "min_tokens above the limit": tokens("invalid_value", 2, "min_tokens", min_tokens=5),
    "min_tokens in a search": same("invalid_value", "min_tokens", min_tokens=1, best_of=2),
    "no draft model": same("unsupported_parameter", "max_ngram_size", max_ngram_size=3),
    "an unknown tool": same(
        "unknown_tool",
        "tool_choice.name",
        CONVERSATIONS,
        tools=[FUNCTION],
        tool_choice={"type": "function", "name": "nope"},
    ),
    "a call without tools": same("unknown_tool", "tool_choice", CONVERSATIONS, tool_choice="required"),
    "a call of a hosted tool": Mistake(
        "unsupported_tool",
        {"responses": "tool_choice"},
        {"responses": {"tool_choice": {"type": "mcp", "server_label": "s"}}},
    ),
    "a call that is not to end": same(
        "invalid_value", "ignore_eos", CONVERSATIONS, tools=[FUNCTION], tool_choice="required", ignore_eos=True
    ),
    "a structured output that is not to end": formatted("invalid_value", "ignore_eos", {}, ignore_eos=True),
    "a reserved variable": same(
        "invalid_value", "chat_template_kwargs.messages", CONVERSATIONS, chat_template_kwargs={"messages": []}
    ),
    "a variable of the wrong type": same(
        "invalid_type",
        "chat_template_kwargs.add_generation_prompt",
        CONVERSATIONS,
        chat_template_kwargs={"add_generation_prompt": "yes"},
    ),
    "a sound": Mistake(
        "unsupported_content",
        dict.fromkeys(CONVERSATIONS, "{part}"),
        parts={"chat": SOUND, "responses": SOUND},
    ),
    "an image for a text model": image("unsupported_content", "data:image/png;base64,QQ==", False),
    "an image from a host that isn't allowed": image("invalid_image_url", "https://elsewhere.test/a.png", True),
    # What the engine finds.
    "parameters that are no schema": same(
        "invalid_schema",
        "tools.0.function.parameters.type",
        CONVERSATIONS,
        tools=[function({"type": "nonsense"})],
        tool_choice="required",
    ),
    "a format that is no schema": formatted("invalid_schema", ".type", {"type": "nonsense"}),
    "a prompt that is too long": Mistake(
        "context_length_exceeded",
        {"chat": "messages", "completions": "prompt", "responses": "input"},
        {"completions": {"prompt": LONG}},
        {"chat": {"type": "text", "text": LONG}, "responses": {"type": "input_text", "text": LONG}},
    ),
}


SEEN = image("", REMOTE, True)
"""No mistake of a request to a model with vision: an image on an allowed host, which is fetched."""


_REMOTE_BLOCK = {"type": "image", "source": {"type": "url", "url": REMOTE}}

_REMOTE_PART = {"type": "input_image", "image_url": REMOTE}

WITH_IMAGES: dict[str, dict[str, Any]] = {
    "compact": {"input": [{"role": "user", "content": [_REMOTE_PART]}]},
    "input_tokens": {"input": [{"role": "user", "content": [_REMOTE_PART]}]},
    "messages": {"messages": [{"role": "user", "content": [_REMOTE_BLOCK]}], "max_tokens": 5},
    "count_tokens": {"messages": [{"role": "user", "content": [_REMOTE_BLOCK]}]},
}
"""The other endpoints that take images, with a request that has one on an allowed host."""


class Seeing(ScriptedEngine):
    """Reads every image as one dot."""

    @property
    def model(self) -> ModelInfo:
        return replace(super().model, vision=True)

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        return ReadImage(Image(1, 1, b"\0\0\0"), 1)


Send = Callable[..., tuple[str, str | None]]


def body(endpoint: str, *mistakes: Mistake) -> tuple[dict[str, Any], list[str]]:
    """A request with these mistakes, and the params that its error may have, one for each."""
    text = {"chat": "text", "responses": "input_text"}
    parts: list[dict[str, Any]] = [{"type": text.get(endpoint), "text": "hi"}]
    request: dict[str, Any] = {"model": "m"}
    params = []
    prompt = {"chat": "messages", "responses": "input"}.get(endpoint)
    for mistake in mistakes:
        request |= mistake.fields.get(endpoint, {})
        params.append(mistake.params[endpoint].format(part=f"{prompt}.0.content.{len(parts)}"))
        if endpoint in mistake.parts:
            parts.append(mistake.parts[endpoint])
    if prompt is None:
        return {"prompt": "hi"} | request, params
    return {prompt: [{"role": "user", "content": parts}]} | request, params


def exclude_each_other(one: Mistake, other: Mistake) -> bool:
    """Whether they are about the same field, or about different models."""
    if None not in (one.vision, other.vision) and one.vision != other.vision:
        return True
    return any(one.fields.get(endpoint, {}).keys() & other.fields.get(endpoint, {}).keys() for endpoint in ALL)


Request = tuple[str, dict[str, Any]]


def answers(vision: bool, requests: list[Request]) -> list[tuple[str, str | None]]:
    """The code and the param of each request's error."""
    errors = [
        response.json().get("error") or {"code": f"{response.status_code}", "param": None}
        for response in exchanged(vision, requests)
    ]
    return [(error["code"], error["param"]) for error in errors]


def statuses(vision: bool, requests: list[Request]) -> list[int]:
    return [response.status_code for response in exchanged(vision, requests)]


def exchanged(vision: bool, requests: list[Request]) -> list[httpx.Response]:
    async def exchange() -> list[httpx.Response]:
        engine = Seeing(context_length=4096) if vision else ScriptedEngine(context_length=4096)
        await engine.start()
        media = MediaSettings(domains=("images.test",))
        app = create_app(
            bind([ServedModel(("m",), 1, engine)], limits=Limits(max_tokens=1000), media=media), Settings()
        )
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return [await client.post(PATHS[endpoint], json=request) for endpoint, request in requests]

    return asyncio.run(exchange())


def models(*mistakes: Mistake) -> Iterator[bool]:
    """The kinds of models, with vision or without, for which all of these are mistakes."""
    return (vision for vision in (False, True) if all(mistake.vision in (None, vision) for mistake in mistakes))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that were fetched."""
    urls: list[str] = []

    async def fetch(self: Fetcher, url: str) -> bytes:
        self._parse(url)
        urls.append(url)
        return b""

    monkeypatch.setattr(Fetcher, "fetch", fetch)
    return urls


@pytest.mark.parametrize("vision", [False, True])
def test_one_mistake(vision: bool) -> None:
    asked = [
        (name, endpoint)
        for name, mistake in MISTAKES.items()
        if vision in models(mistake)
        for endpoint in mistake.params
    ]
    bodies = [body(endpoint, MISTAKES[name]) for name, endpoint in asked]
    errors = answers(vision, [(endpoint, sent) for (_, endpoint), (sent, _) in zip(asked, bodies, strict=True)])
    expected = [(MISTAKES[name].code, param) for (name, _), (_, [param]) in zip(asked, bodies, strict=True)]
    assert dict(zip(asked, errors, strict=True)) == dict(zip(asked, expected, strict=True))


def test_two_mistakes(fetched: list[str]) -> None:
    """Whichever is answered, it is the same on all endpoints that know both. A model with vision is shown an image on
    an allowed host as well, wherever images may be."""
    differing: dict[tuple[str, str], dict[str, set[str]]] = {}
    for vision in (False, True):
        asked = [
            (one, other, endpoint)
            for one, other in combinations(MISTAKES, 2)
            if vision in models(MISTAKES[one], MISTAKES[other])
            and not exclude_each_other(MISTAKES[one], MISTAKES[other])
            for endpoint in MISTAKES[one].params.keys() & MISTAKES[other].params.keys()
        ]
        requests = [
            body(endpoint, MISTAKES[one], MISTAKES[other], *([SEEN] if vision and endpoint in CONVERSATIONS else []))
            for one, other, endpoint in asked
        ]
        assert any(REMOTE in str(request) for request, _ in requests) == vision
        errors = answers(
            vision, [(endpoint, request) for (*_, endpoint), (request, _) in zip(asked, requests, strict=True)]
        )
        winners: dict[tuple[str, str], dict[str, set[str]]] = {}
        for (one, other, endpoint), (_, params), answer in zip(asked, requests, errors, strict=True):
            named = zip((one, other), params, strict=False)  # the image is no mistake
            won = {name for name, param in named if answer == (MISTAKES[name].code, param)}
            winners.setdefault((one, other), {})[endpoint] = won or {str(answer)}
        differing |= {pair: won for pair, won in winners.items() if len(set(map(frozenset, won.values()))) > 1}
        assert len(winners) > 150
        strangers = {pair: won for pair, won in winners.items() if not set().union(*won.values()) & set(pair)}
        assert not strangers
    assert not differing
    assert not fetched


@pytest.mark.parametrize("endpoint", CONVERSATIONS)
def test_nothing_is_fetched_for_a_request_with_a_mistake(endpoint: str, fetched: list[str]) -> None:
    request, _ = body(endpoint, SEEN)
    assert answers(True, [(endpoint, request)]) == [("200", None)]
    assert fetched == [REMOTE]
    fetched.clear()
    others = [name for name, mistake in MISTAKES.items() if endpoint in mistake.params and mistake.vision is not False]
    bodies = [body(endpoint, SEEN, MISTAKES[name]) for name in others]
    expected = [(MISTAKES[name].code, param) for name, (_, [_, param]) in zip(others, bodies, strict=True)]
    errors = answers(True, [(endpoint, sent) for sent, _ in bodies])
    assert dict(zip(others, errors, strict=True)) == dict(zip(others, expected, strict=True))
    assert not fetched


@pytest.mark.parametrize("endpoint", CONVERSATIONS)
@pytest.mark.parametrize("url", [REMOTE, REMOTE.replace("https:", "http:"), "https://elsewhere.test/a.png"])
def test_nothing_is_fetched_for_a_text_model(endpoint: str, url: str, fetched: list[str]) -> None:
    unread = image("unsupported_content", url, False)
    request, [param] = body(endpoint, unread)
    assert answers(False, [(endpoint, request)]) == [("unsupported_content", param)]
    assert not fetched


def test_the_endpoints_that_take_images_are_known() -> None:
    """Nothing leads to an image from the bodies of others, so that they can't be asked to fetch one. What is put into
    a conversation isn't read before a response."""
    bodies = {name: operation.definition.get("requestBody") for name, operation in by_endpoint(whole()).items()}
    for name in ("conversations", "conversation_items_creation"):
        del bodies[name]
    images = {"ImagePart", "InputImageContent", "AnthropicImageBlock"}
    assert {name for name, body in bodies.items() if images & reached(whole(), body)} == {*CONVERSATIONS, *WITH_IMAGES}


@pytest.mark.parametrize("endpoint", WITH_IMAGES)
def test_nothing_is_fetched_for_a_mistake_in_another_api(endpoint: str, fetched: list[str]) -> None:
    choice = {"type": "function" if endpoint == "input_tokens" else "tool", "name": "nope"}
    mistakes: list[dict[str, Any]] = [{"model": "other"}]
    if endpoint == "compact":
        mistakes.append({"previous_response_id": "resp_1"})
    else:
        mistakes += [{"tool_choice": choice}, {"chat_template_kwargs": {"messages": []}}]
    request: dict[str, Any] = {"model": "m", **WITH_IMAGES[endpoint]}
    refused = statuses(True, [(endpoint, request | mistake) for mistake in mistakes])
    assert refused == ([404, 404] if endpoint == "compact" else [404, 400, 400])
    assert statuses(False, [(endpoint, request)]) == [400]
    assert not fetched
    assert statuses(True, [(endpoint, request)]) == [200]
    assert fetched == [REMOTE]
