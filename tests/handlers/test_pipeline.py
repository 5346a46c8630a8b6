"""What the pipeline refuses or reports of a request before it is generated."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from specvino.engine.errors import ConstraintError, ContextLengthExceeded
from specvino.engine.output_parsers.selection import SelectedParsers
from specvino.engine.protocol import Drafting, ModelInfo
from specvino.engine.request import Conversation, GenerationRequest, Image, JsonSchema, Message, Prompt, ReadImage
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment
from specvino.generated.handlers import Reply, RequestContext
from specvino.generated.models import CreateChatCompletionRequest, CreateCompletionRequest, CreateResponseRequest
from specvino.handlers import bind
from specvino.handlers.chat.request import request_fields as chat_fields
from specvino.handlers.completions import request_fields as completion_fields
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits
from specvino.handlers.media import Media, MediaSettings
from specvino.handlers.media.fetch import Fetcher
from specvino.handlers.models import ServedModel, ServedModels
from specvino.handlers.pipeline import CheckedRequest, Pipeline, RequestFields
from specvino.handlers.responses.request import request_fields as response_fields

UNIQUE = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": UNIQUE}}
TOOLS = [{"type": "function", "function": {"name": "g"}}]


def body(**fields: Any) -> CreateChatCompletionRequest:
    messages = [{"role": "user", "content": "hi"}]
    return CreateChatCompletionRequest.model_validate({"model": "m", "messages": messages} | fields)


def replied(*, taught: bool = True, refuses: bool = False, **fields: Any) -> Reply[Any]:
    async def exchange() -> Reply[Any]:
        engine = ScriptedEngine(parsers=SelectedParsers(taught=taught))
        await engine.start()
        chat = bind([ServedModel(("m",), 1, engine)]).chat
        reply = await chat.create_chat_completion(RequestContext("r", refuses_unsupported=refuses), body(**fields))
        if isinstance(reply.body, AsyncGenerator):
            return Reply([chunk async for chunk in reply.body], reply.unsupported)
        return reply

    return asyncio.run(exchange())


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_names_the_fields_without_effect_in_the_pipeline_s_order(stream: bool) -> None:
    """Those that the engine finds are known too before the first event of a stream is read."""
    reply = replied(
        taught=False, tools=TOOLS, reasoning_effort="none", response_format=FORMAT, stream=stream, temperature=0
    )
    assert reply.unsupported == ("tools", "response_format.json_schema.schema.properties.a.uniqueItems")
    assert reply.body


def test_a_server_that_refuses_what_has_no_effect() -> None:
    for fields, code, param in (
        ({"taught": False, "tools": TOOLS}, "unsupported_parameter", "tools"),
        (
            {"response_format": FORMAT},
            "unsupported_schema",
            "response_format.json_schema.schema.properties.a.uniqueItems",
        ),
    ):
        with pytest.raises(ApiError) as error:
            replied(refuses=True, **fields)
        assert (error.value.code, error.value.param) == (code, param)


def checked(*, drafting: Drafting | None = None, **fields: Any) -> tuple[CheckedRequest, ScriptedEngine]:
    return checked_fields(chat_fields(body(**fields)), drafting=drafting)


def checked_fields(fields: RequestFields, *, drafting: Drafting | None = None) -> tuple[CheckedRequest, ScriptedEngine]:
    engine = ScriptedEngine(drafting=drafting)
    asyncio.run(engine.start())
    pipeline = Pipeline(ServedModels([ServedModel(("m",), 1, engine)]), Limits(), Media(MediaSettings()))
    return pipeline.check(RequestContext("r"), fields), engine


def test_what_the_engine_is_asked() -> None:
    fields: dict[str, Any] = {
        "tools": TOOLS,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "n": 2,
        "logprobs": True,
    }
    request, _ = checked(**fields, response_format={"type": "json_object"}, max_tokens=7)
    prompt = Conversation((Message("user", "hi"),))
    sent = request.with_prompts([prompt])
    assert (sent.prompts, sent.n, sent.logprobs, sent.echo) == (
        (prompt,),
        2,
        True,
        False,
    )
    assert (sent.must_call, sent.parallel_calls) == (True, False)
    assert (sent.constraint, sent.sampling.max_tokens) == (JsonSchema({"type": "object"}), 7)


ENDPOINTS: dict[str, Any] = {
    "chat": (CreateChatCompletionRequest, chat_fields, {"messages": [{"role": "user", "content": "hi"}]}),
    "completions": (CreateCompletionRequest, completion_fields, {"prompt": "hi"}),
    "responses": (CreateResponseRequest, response_fields, {"input": "hi"}),
}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(("fields", "n"), [({}, 1), ({"n": None}, 1), ({"n": 3}, 3)])
def test_n(endpoint: str, fields: dict[str, Any], n: int) -> None:
    model, request_fields, prompt = ENDPOINTS[endpoint]
    request, _ = checked_fields(request_fields(model.model_validate({"model": "m", **prompt, **fields})))
    assert request.engine_request.n == n


@pytest.mark.parametrize(
    ("fields", "unused"),
    [
        ({}, ()),
        ({"logprobs": True, "top_logprobs": 1}, ()),
        ({"logprobs": True, "top_logprobs": 2}, ("num_assistant_tokens",)),
        ({"prompt_logprobs": 0}, ("num_assistant_tokens",)),
        ({"bad_words": ["a"]}, ("num_assistant_tokens",)),
        ({"min_tokens": 1}, ("num_assistant_tokens",)),
    ],
)
def test_settings_of_drafts_have_no_effect_where_there_are_none(
    fields: dict[str, Any], unused: tuple[str, ...]
) -> None:
    request, _ = checked(drafting="draft_model", num_assistant_tokens=3, **fields)
    assert request.unsupported == unused


class Silent(ScriptedEngine):
    """Must not generate."""

    def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        pytest.fail("it generates")


def test_an_engine_checks_a_request_without_generating() -> None:
    engine = Silent(context_length=4096)
    asyncio.run(engine.start())

    def check(content: str, **fields: Any) -> None:
        request, _ = checked(**fields)
        conversation = Conversation((Message("user", content),), request.tools.tools)
        asyncio.run(engine.check(request.with_prompts([conversation])))
        assert engine.stats().running == 0

    check("hi", n=2, tools=TOOLS, tool_choice="required")
    with pytest.raises(ContextLengthExceeded):
        check("word " * 5000)
    wrong_tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "no"}}}
    with pytest.raises(ConstraintError):
        check("hi", tools=[wrong_tool], tool_choice="required")


def test_before_an_image_is_fetched_the_engine_is_asked_about_one_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat template may refuse an empty message, which this one would be without its image."""
    checked_prompts: list[Prompt] = []

    class Vision(ScriptedEngine):
        @property
        def model(self) -> ModelInfo:
            return replace(super().model, vision=True)

        async def check(self, request: GenerationRequest) -> None:
            checked_prompts.extend(request.prompts)

        async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
            return ReadImage(Image(2, 2, bytes(12)), 4)

    async def fetch(self: Fetcher, url: str) -> bytes:
        assert checked_prompts, "it is checked_prompts before"
        return b""

    async def exchange() -> None:
        engine = Vision()
        await engine.start()
        media = MediaSettings(domains=("images.test",))
        part = {"type": "image_url", "image_url": {"url": "https://images.test/a.png"}}
        chat = bind([ServedModel(("m",), 1, engine)], media=media).chat
        request = body(messages=[{"role": "user", "content": [part]}])
        await chat.create_chat_completion(RequestContext("r"), request)

    monkeypatch.setattr(Fetcher, "fetch", fetch)
    asyncio.run(exchange())
    [prompt] = checked_prompts
    assert isinstance(prompt, Conversation)
    assert [(image.at, image.image.width) for image in prompt.messages[0].images] == [(0, 1)]


@pytest.mark.parametrize("refused", [{"n": 3, "best_of": 2}, {"num_assistant_tokens": 1}], ids=["body", "server"])
def test_an_unknown_model_is_told_before_fields_that_can_t_be_combined(refused: dict[str, Any]) -> None:
    for model, code in (("another", "model_not_found"), ("m", None)):
        with pytest.raises(ApiError) as error:
            checked_fields(chat_fields(body(model=model, **refused)))
        assert (error.value.code == "model_not_found") is (code is not None)
