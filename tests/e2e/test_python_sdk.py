"""The official Python SDK, unmodified: what it reads on the default model, and how it takes errors."""

import asyncio

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from support.serving_here import serving_here

MODEL = "smollm2"
QUESTION = "What is the capital of France?"
CHAT = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}], "temperature": 0}
COMPLETION = {"model": MODEL, "prompt": "The capital of France is", "temperature": 0, "max_tokens": 8}
RESPONSE = {"model": MODEL, "input": QUESTION, "temperature": 0}
WITH_USAGE = {"stream_options": {"include_usage": True}}

# The events of a response of one message of one text; a delta stands for as many as come.
EVENTS = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


@pytest.fixture(params=["/v1", "/v3"])
def url(default_server, request):
    return default_server.url.removesuffix("/v1") + request.param


@pytest.fixture
def client(url):
    with OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def asked(url):
    """Runs a coroutine function on an async client."""

    def run(ask):
        async def exchange():
            async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
                return await ask(client)

        return asyncio.run(exchange())

    return run


def once(types):
    """The types of events without their repetitions in a row."""
    return [kind for index, kind in enumerate(types) if index == 0 or types[index - 1] != kind]


def counts(usage):
    """The counts that a repeated prompt shares with its first time: the cache changes the details."""
    return {name: value for name, value in usage.to_dict().items() if not name.endswith("_details")}


def test_chat_and_its_streams_agree(client) -> None:
    unary = client.chat.completions.create(**CHAT)
    assert "Paris" in unary.choices[0].message.content
    assert unary.id.startswith("chatcmpl-")
    assert unary.usage.total_tokens == unary.usage.prompt_tokens + unary.usage.completion_tokens

    *chunks, last = client.chat.completions.create(**CHAT, **WITH_USAGE, stream=True)
    assert (chunks[0].choices[0].delta.role, chunks[0].choices[0].delta.content) == ("assistant", "")
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == unary.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == unary.choices[0].finish_reason == "stop"
    assert last.choices == []
    assert counts(last.usage) == counts(unary.usage)

    with client.chat.completions.stream(**CHAT, **WITH_USAGE) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        folded = stream.get_final_completion()
    assert text == folded.choices[0].message.content == unary.choices[0].message.content
    assert folded.choices[0].finish_reason == "stop"
    assert counts(folded.usage) == counts(unary.usage)


def test_async_chat_and_its_streams_agree(asked) -> None:
    async def ask(client):
        unary = await client.chat.completions.create(**CHAT)
        chunks = [chunk async for chunk in await client.chat.completions.create(**CHAT, stream=True)]
        async with client.chat.completions.stream(**CHAT) as stream:
            return unary, chunks, await stream.get_final_completion()

    unary, chunks, folded = asked(ask)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "Paris" in text
    assert text == folded.choices[0].message.content == unary.choices[0].message.content


def test_completions_and_their_stream_agree(client) -> None:
    unary = client.completions.create(**COMPLETION)
    assert "Paris" in unary.choices[0].text
    assert unary.id.startswith("cmpl-")
    *chunks, last = client.completions.create(**COMPLETION, **WITH_USAGE, stream=True)
    assert "".join(chunk.choices[0].text for chunk in chunks) == unary.choices[0].text
    assert chunks[-1].choices[0].finish_reason == unary.choices[0].finish_reason == "length"
    assert last.choices == []
    assert counts(last.usage) == counts(unary.usage)


def test_async_completions_and_their_stream_agree(asked) -> None:
    async def ask(client):
        unary = await client.completions.create(**COMPLETION)
        return unary, [chunk async for chunk in await client.completions.create(**COMPLETION, stream=True)]

    unary, chunks = asked(ask)
    assert "Paris" in unary.choices[0].text
    assert "".join(chunk.choices[0].text for chunk in chunks) == unary.choices[0].text


def test_several_prompts_are_several_choices(client) -> None:
    answer = client.completions.create(**COMPLETION | {"prompt": [COMPLETION["prompt"], "One, two, three,"]})
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert "Paris" in answer.choices[0].text
    assert "four" in answer.choices[1].text


def test_responses_and_their_streams_agree(client) -> None:
    unary = client.responses.create(**RESPONSE)
    assert "Paris" in unary.output_text
    assert unary.id.startswith("resp_")
    assert (unary.status, unary.error, unary.incomplete_details) == ("completed", None, None)
    assert unary.output[0].id.startswith("msg_")
    assert unary.usage.total_tokens == unary.usage.input_tokens + unary.usage.output_tokens

    events = list(client.responses.create(**RESPONSE, stream=True))
    assert once([event.type for event in events]) == EVENTS
    assert [event.sequence_number for event in events] == list(range(len(events)))
    streamed = events[-1].response
    assert streamed.id == events[0].response.id
    assert "".join(event.delta for event in events if event.type.endswith("delta")) == streamed.output_text
    assert streamed.output_text == unary.output_text
    assert counts(streamed.usage) == counts(unary.usage)

    with client.responses.stream(**RESPONSE) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert once([event.type for event in events]) == EVENTS
    assert final.to_dict() == events[-1].response.to_dict()
    assert events[-2].item.id == final.output[0].id
    assert events[-2].item.content[0].text == final.output_text
    assert final.output_text == unary.output_text


def test_async_responses_and_their_streams_agree(asked) -> None:
    async def ask(client):
        unary = await client.responses.create(**RESPONSE)
        events = [event async for event in await client.responses.create(**RESPONSE, stream=True)]
        async with client.responses.stream(**RESPONSE) as stream:
            return unary, events, await stream.get_final_response()

    unary, events, final = asked(ask)
    assert "Paris" in unary.output_text
    assert once([event.type for event in events]) == EVENTS
    assert events[-1].response.output_text == final.output_text == unary.output_text


def test_a_response_cut_short_is_incomplete(client) -> None:
    answer = client.responses.create(**RESPONSE, max_output_tokens=1)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    *_, last = client.responses.create(**RESPONSE, max_output_tokens=1, stream=True)
    assert last.type == "response.incomplete"
    assert last.response.output_text == answer.output_text


def test_models(client, asked) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).owned_by == "specvino"

    async def ask(client):
        return [model.id async for model in client.models.list()]

    assert asked(ask) == [MODEL]


def ways(client):
    """What asks each endpoint."""
    return [
        (client.chat.completions.create, CHAT),
        (client.completions.create, COMPLETION),
        (client.responses.create, RESPONSE),
    ]


@pytest.mark.parametrize("endpoint", range(3), ids=["chat", "completions", "responses"])
def test_a_wrong_request_is_an_error_of_its_class(client, endpoint) -> None:
    create, body = ways(client)[endpoint]
    for stream in (False, True):
        with pytest.raises(openai.NotFoundError) as missing:
            create(**body | {"model": "gpt-9", "stream": stream})
        assert (missing.value.param, missing.value.code) == ("model", "model_not_found")
        with pytest.raises(openai.BadRequestError) as wrong:
            create(**body | {"temperature": 3, "stream": stream})
        assert (wrong.value.param, wrong.value.code) == ("temperature", "decimal_above_max_value")
        with pytest.raises(openai.BadRequestError) as wrong:
            create(**body | {"top_p": "most", "stream": stream})
        assert (wrong.value.param, wrong.value.code) == ("top_p", "invalid_type")
        assert wrong.value.type == "invalid_request_error"


def test_an_async_client_gets_the_same_errors(asked) -> None:
    with pytest.raises(openai.NotFoundError):
        asked(lambda client: client.models.retrieve("gpt-9"))
    with pytest.raises(openai.BadRequestError) as wrong:
        asked(lambda client: client.chat.completions.create(**CHAT | {"messages": []}))
    assert (wrong.value.param, wrong.value.code) == ("messages", "array_below_min_length")


def test_the_context_s_limit_is_named(client) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**CHAT, max_tokens=8192)
    assert caught.value.code == "context_length_exceeded"
    assert "8192" in caught.value.message
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**CHAT | {"messages": [{"role": "user", "content": "word " * 9000}]})
    assert caught.value.code == "context_length_exceeded"


def test_what_has_no_effect_is_named_in_a_header(client) -> None:
    raw = client.chat.completions.with_raw_response.create(**CHAT, service_tier="flex", extra_body={"mystery": True})
    assert raw.headers["x-unsupported-params"] == "service_tier, mystery"
    assert "Paris" in raw.parse().choices[0].message.content


# On the scripted engine: faults on demand.


def scripted(server, **options):
    return OpenAI(base_url=server.url, **{"api_key": "none", "max_retries": 0, **options})


def script(directives):
    return {"model": "m", "messages": [{"role": "user", "content": f"script: {directives}\none two"}], "temperature": 0}


def test_a_key_is_asked_for() -> None:
    with serving_here("--engine", "scripted", "--served-model-name", "m", env={"SPECVINO_API_KEY": "right"}) as server:
        with scripted(server, api_key="right") as client:
            assert client.models.retrieve("m").id == "m"
        with scripted(server, api_key="wrong") as client, pytest.raises(openai.AuthenticationError) as caught:
            client.models.list()
    assert caught.value.code == "invalid_api_key"


def test_a_server_that_is_not_ready_is_asked_again(scripted_server) -> None:
    with scripted(scripted_server, max_retries=1) as client, pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(**script("unavailable=1"))
    assert (caught.value.status_code, caught.value.code) == (503, "engine_unavailable")
    assert caught.value.request.headers["x-stainless-retry-count"] == "1"


def test_an_engine_lost_within_a_stream_is_an_error_of_the_stream(scripted_server) -> None:
    with scripted(scripted_server) as client:
        stream = client.chat.completions.create(**script("crash_at=1"), stream=True)
        assert next(stream).choices[0].delta.role == "assistant"
        assert next(stream).choices[0].delta.content == "one"
        with pytest.raises(openai.APIError) as caught:
            next(stream)
    assert caught.value.code == "engine_restarted"


def test_an_engine_lost_within_a_response_s_stream_fails_the_response(scripted_server) -> None:
    with scripted(scripted_server) as client:
        *_, last = client.responses.create(model="m", input="script: crash_at=1\none two", temperature=0, stream=True)
    assert last.type == "response.failed"
    assert last.response.status == "failed"
    assert last.response.error.message


def test_an_answer_that_does_not_come_times_out_and_the_server_goes_on(scripted_server) -> None:
    with scripted(scripted_server) as client:
        with pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(**script("stall_at=0"), timeout=0.2)
        with client.chat.completions.create(**script("stall_at=1"), stream=True) as stream:
            assert next(stream).choices[0].delta.role == "assistant"
        assert client.chat.completions.create(**script("")).choices[0].message.content == "one two"


def test_a_cancelled_task_leaves_the_server_going_on(scripted_server) -> None:
    async def run():
        async with AsyncOpenAI(base_url=scripted_server.url, api_key="none", max_retries=0) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await client.chat.completions.create(**script("stall_at=0"))
            return await client.chat.completions.create(**script(""))

    assert asyncio.run(run()).choices[0].message.content == "one two"
