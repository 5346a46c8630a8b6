"""How the suite learns how long a context is, and what it makes of it."""

import pytest
from reference_server.bench import judged, message_of
from reference_server.chat import Chat
from reference_server.generation import Generation
from reference_server.http import Http
from reference_server.models import Models
from reference_server.refusal import Refusal

from specvino.generated.errors import ErrorCode

RULE = "chat/limits/prompt-beyond-context"


@pytest.mark.parametrize(
    ("fields", "verdict", "words"),
    [
        ({"max_model_len": 8192}, "pass", ""),
        ({"meta": {"n_ctx": 8192}}, "pass", ""),
        ({"max_model_len": 500}, "fail", "a prompt of 501 words returns 200"),
        ({"meta": {"n_ctx_train": 500}}, "not-exercised", "of the model's training"),
        ({"max_model_len": 100_000}, "not-exercised", "has 100000 tokens"),
        ({"max_model_len": True}, "pass", ""),
    ],
)
def test_the_list_of_models_says_it(fields, verdict, words) -> None:
    class Says(Models):
        def described(self, model):
            return {**super().described(model), **fields}

    result = judged(Says, by="openai", only={RULE})[RULE]
    assert result.verdict == verdict
    assert words in message_of(result)


def test_nobody_says_it() -> None:
    class Silent(Generation):
        def require_context(self, asked, param, limit):
            pass

    result = judged(Silent, only={RULE})[RULE]
    assert (result.verdict, message_of(result)) == (
        "not-exercised",
        "the server doesn't state the context's size, and accepts 32769 words",
    )


@pytest.mark.parametrize(
    ("refuses", "verdict", "words"),
    [
        (Refusal(ErrorCode.CONTEXT_LENGTH_EXCEEDED, "It is too long."), "pass", ""),
        (RuntimeError(), "fail", "a prompt of 16384 words returns 500"),
    ],
)
def test_longer_and_longer_prompts_find_its_end(refuses, verdict, words) -> None:
    class Ends(Generation):
        def require_context(self, asked, param, limit):
            if len(asked.prompt) > 10_000:
                raise refuses

    result = judged(Ends, only={RULE})[RULE]
    assert result.verdict == verdict
    assert words in message_of(result)


def test_a_stream_that_breaks_off_before_its_first_chunk_is_no_answer() -> None:
    class Takes(Generation):
        def require_context(self, asked, param, limit):
            pass

    class Begins(Chat):
        def chat_events(self, head, asked, outputs):
            if len(asked.prompt) < 10_000:
                yield from super().chat_events(head, asked, outputs)

    rule = "chat/limits/streamed-prompt-beyond-context"
    result = judged(Takes, Begins, only={rule})[rule]
    assert (result.verdict, message_of(result)) == (
        "fail",
        "a prompt of 16384 words starts a stream without any chunk",
    )


def test_a_stream_of_another_media_type_is_an_answer() -> None:
    class Ends(Generation):
        def require_context(self, asked, param, limit):
            if len(asked.prompt) > 10_000:
                raise Refusal(ErrorCode.CONTEXT_LENGTH_EXCEEDED, "It is too long.")

    class Plain(Http):
        def stream_headers(self, call):
            return [(b"content-type", b"text/plain")]

    rule = "chat/limits/streamed-prompt-beyond-context"
    assert judged(Ends, Plain, only={rule})[rule].verdict == "pass"
