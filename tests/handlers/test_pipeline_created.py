"""An answer is as old as its request, however long the engine takes to admit it."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment
from specvino.generated import models
from specvino.generated.handlers import RequestContext
from specvino.handlers import Handlers, bind
from specvino.handlers.models import ServedModel

CHAT = models.CreateChatCompletionRequest(model="m", messages=[models.UserMessage(role="user", content="hi")])
COMPLETION = models.CreateCompletionRequest(model="m", prompt="hi")
RESPONSE = models.CreateResponseRequest(model="m", input="hi")


async def created(handlers: Handlers, endpoint: str) -> int:
    context = RequestContext("r")
    if endpoint == "chat":
        chat = (await handlers.chat.create_chat_completion(context, CHAT)).body
        assert isinstance(chat, dict)
        return chat["created"]
    if endpoint == "completions":
        completion = (await handlers.completions.create_completion(context, COMPLETION)).body
        assert isinstance(completion, dict)
        return completion["created"]
    response = (await handlers.responses.create_response(context, RESPONSE)).body
    assert isinstance(response, dict)
    return response["created_at"]


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
def test_an_answer_is_created_before_its_request_is_admitted(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000]
    monkeypatch.setattr(time, "time", lambda: clock[0])

    class Slow(ScriptedEngine):
        async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
            clock[0] += 100
            async for segment in super().generate(request):
                yield segment

    async def exchange() -> None:
        engine = Slow()
        await engine.start()
        assert await created(bind([ServedModel(("m",), 1, engine)]), endpoint) == 1000
        assert clock == [1100]

    asyncio.run(exchange())
