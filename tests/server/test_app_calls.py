"""What a token costs between the engine's segment and the ASGI server, in calls. The server wakes for each token of a
stream, on cores whose caches the model has just filled, so what it costs is how much code it passes."""

from collections.abc import AsyncGenerator

import pytest
from support.app import MINIMAL, Client
from support.calls import counted

from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Finish, Segment, Started, TextDelta, Usage

TOKENS = 2000


class Quick(ScriptedEngine):
    """Answers with so many tokens, at once."""

    tokens = TOKENS

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        yield Started(1)
        for _ in range(self.tokens):
            yield TextDelta(0, "a")
        yield Finish(0, "stop")
        yield Usage(1, self.tokens)


@pytest.mark.parametrize(
    ("path", "fields", "most"),
    [
        ("chat/completions", MINIMAL, 18),
        ("completions", {"model": "m", "prompt": "a"}, 19),
        ("responses", {"model": "m", "input": "a", "store": False}, 24),
    ],
)
def test_a_token_takes_few_calls(path: str, fields: dict[str, object], most: int) -> None:
    def calls(tokens: int) -> int:
        engine = Quick()
        engine.tokens = tokens
        with counted() as counts:
            answered = Client(engine).ask("POST", f"/v1/{path}", json={**fields, "stream": True})
        assert answered.text.count("data: {") >= tokens
        return counts[0]

    calls(1)  # the first request reads documents
    calls_per_token = (calls(TOKENS + 1) - calls(1)) / TOKENS
    assert calls_per_token <= most
