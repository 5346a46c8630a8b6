"""The messages and the settings that the engine gets for requests of Ollama's API."""

from types import MappingProxyType

import pytest

from specvino.engine.request import Message, TextPrompt, ToolCall, Truncation
from specvino.generated.handlers import RequestContext
from specvino.generated.models import OllamaChatRequest, OllamaGenerateRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource
from specvino.handlers.ollama.request import matched, raw_prompt, request_fields, to_messages, without_random_seed
from specvino.handlers.sampling import sampling


def chat(*messages, **fields):
    return OllamaChatRequest.model_validate({"model": "m", "messages": list(messages), **fields})


def generate(**fields):
    return OllamaGenerateRequest.model_validate({"model": "m", **fields})


def one(**message):
    (draft,) = to_messages(chat(message), vision=False)
    assert draft.images == ()
    return draft.message


def test_roles() -> None:
    for role in ("system", "user", "assistant"):
        assert one(role=role, content="x") == Message(role, "x")
    assert one(role="tool", content="x", tool_name="f", tool_call_id="c") == Message(
        "tool", "x", name="f", tool_call_id="c"
    )


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_no_content(content) -> None:
    assert one(role="user", **content) == Message("user", "")


def test_only_the_model_thinks() -> None:
    assert one(role="assistant", content="x", thinking="so") == Message("assistant", "x", reasoning="so")
    assert one(role="user", content="x", thinking="so") == Message("user", "x")


def test_calls_and_their_results() -> None:
    calls = [
        {"id": "c", "function": {"name": "f", "arguments": {"a": "é"}}},
        {"function": {"name": "g", "arguments": {}}},
    ]
    drafts = list(
        to_messages(
            chat({"role": "assistant", "tool_calls": calls}, {"role": "tool", "content": "x", "tool_call_id": "c"}),
            vision=False,
        )
    )
    made = (ToolCall("c", "f", '{"a": "é"}'), ToolCall("call_0", "g", "{}"))
    assert [draft.message for draft in drafts] == [
        Message("assistant", "", tool_calls=made),
        Message("tool", "x", name="f", tool_call_id="c"),
    ]


def test_a_call_without_an_id_is_matched_by_none() -> None:
    call = {"function": {"name": "f", "arguments": {}}}
    lost = {"role": "tool", "content": "x", "tool_call_id": "lost"}
    messages = chat({"role": "assistant", "tool_calls": [call, {"id": "c", **call}]}, lost).messages
    assert set(matched(messages).reported(RequestContext("r"))) == {
        "messages.0.tool_calls.1.id",
        "messages.1.tool_call_id",
    }


def test_images_stand_before_the_text() -> None:
    (draft,) = to_messages(generate(prompt="what?", images=["aGk=", "eW8="]), vision=True)
    sources = [
        ImageSource(f"images.{index}", f"data:;base64,{file}", None) for index, file in enumerate(("aGk=", "eW8="))
    ]
    assert draft == MessageDraft(
        Message("user", "\n\nwhat?"),
        tuple(PlacedSource(at, source) for at, source in zip((0, 1), sources, strict=True)),
    )


def test_images_that_the_model_can_not_read() -> None:
    with pytest.raises(ApiError, match=r"messages\.0\.images\.0 is of the type image") as failure:
        list(to_messages(chat({"role": "user", "images": ["aGk="]}), vision=False))
    assert failure.value.param == "messages.0.images.0"
    with pytest.raises(ApiError, match=r"images\.0"):
        raw_prompt(generate(prompt="x", images=["aGk="], raw=True))


def test_a_prompt() -> None:
    drafts = to_messages(generate(prompt="x", system="be brief"), vision=False)
    assert [draft.message for draft in drafts] == [Message("system", "be brief"), Message("user", "x")]
    assert raw_prompt(generate(prompt="x", raw=True)) == TextPrompt("x")


def test_only_an_assistant_s_last_message_is_continued() -> None:
    user, answer = {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}
    assert request_fields(chat(user, answer)).continues
    assert not request_fields(chat(answer, user)).continues
    assert not request_fields(chat()).continues


def test_prompts_are_truncated_unless_they_must_not_be() -> None:
    assert request_fields(generate(prompt="x")).truncation == Truncation(None)
    assert request_fields(generate(prompt="x", truncate=None)).truncation == Truncation(None)
    assert request_fields(generate(prompt="x", truncate=False)).truncation is None
    assert request_fields(chat({"role": "user", "content": "x"})).truncation is None


def settings_of(body, model=MappingProxyType({})):
    body = without_random_seed(body)
    return sampling(body, model, request_fields(body).settings)


def settled(**options):
    return settings_of(generate(prompt="x", options=options))


def test_settings() -> None:
    defaults = settings_of(generate(prompt="x"))
    assert (defaults.temperature, defaults.top_p, defaults.top_k, defaults.seed) == (0.8, 0.9, 40, None)
    assert (defaults.max_tokens, defaults.repetition_penalty, defaults.stop) == (None, 1, ())
    assert settled() == defaults
    own = settled(temperature=0, top_k=0, num_predict=7, repeat_penalty=1.5, seed=3, stop=["a"])
    assert (own.temperature, own.top_k, own.max_tokens, own.repetition_penalty) == (0, -1, 7, 1.5)
    assert (own.seed, own.stop) == (3, ("a",))


@pytest.mark.parametrize("limit", [-1, -2, None])
def test_no_limit(limit) -> None:
    assert settled(num_predict=limit).max_tokens is None


def test_a_random_seed() -> None:
    assert settled(seed=-1).seed is None
    assert settled(seed=-2).seed == -2


def test_the_model_s_own_settings() -> None:
    model = {"temperature": 0.2, "top_k": 3}
    assert settings_of(generate(prompt="x"), model).temperature == 0.2
    assert settings_of(generate(prompt="x", options={"temperature": 1}), model).temperature == 1
