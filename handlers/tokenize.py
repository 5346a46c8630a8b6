"""POST /tokenize."""

from typing import Literal

from specvino.engine.protocol import Engine
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import engine_errors
from specvino.handlers.given import given
from specvino.handlers.models import ServedModel


class Tokens:
    def __init__(self, engine: Engine, served: ServedModel) -> None:
        self._engine = engine
        self._served = served

    async def tokenize(self, context: RequestContext, body: models.TokenizeRequest) -> wire.TokenizeResponse:
        self._served.require(body.model)
        texts = [body.text] if isinstance(body.text, str) else body.text
        special = given(body.add_special_tokens)
        side: Literal["left", "right"] = given(body.padding_side) or "right"
        with engine_errors("text"):
            tokens = await self._engine.tokenize(
                texts,
                add_special_tokens=True if special is None else special,
                max_length=given(body.max_length),
                pad=side if given(body.pad_to_max_length) else None,
            )
        return {"tokens": tokens[0] if len(tokens) == 1 else tokens}
