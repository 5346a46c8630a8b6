"""A request that is too long, nobody knows by how much, because of its images."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment
from specvino.generated.handlers import RequestContext
from specvino.generated.models import CreateResponseRequest
from specvino.handlers import bind
from specvino.handlers.models import ServedModel


class Full(ScriptedEngine):
    """Takes three messages at the most."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[list[str]] = []

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        [prompt] = request.prompts
        self.prompts.append([message.content for message in prompt.messages])  # type: ignore[union-attr]
        if len(self.prompts[-1]) > 3:
            raise ContextLengthExceeded(None, 1, 4096)
        async for segment in super().generate(request):
            yield segment


def test_it_gets_shorter_until_it_fits() -> None:
    turns = [{"role": role, "content": f"{role}{n}"} for n in range(4) for role in ("user", "assistant")]
    body = {"model": "m", "input": [*turns, {"role": "user", "content": "last"}], "truncation": "auto", "store": False}

    async def run() -> tuple[Any, Full]:
        engine = Full()
        await engine.start()
        handlers = bind([ServedModel(("m",), 1, engine)])
        request = CreateResponseRequest.model_validate(body)
        return await handlers.responses.create_response(RequestContext("r"), request), engine

    reply, engine = asyncio.run(run())
    response = reply.body
    assert response["output"][0]["content"][0]["text"] == "last"
    assert [len(messages) for messages in engine.prompts] == [9, 7, 5, 3]
    assert engine.prompts[-1] == ["user3", "assistant3", "last"]
