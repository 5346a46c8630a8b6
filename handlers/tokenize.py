"""POST /tokenize."""

from collections.abc import Sequence
from typing import Literal

from specvino.engine.errors import PromptError
from specvino.engine.protocol import Engine
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import engine_errors
from specvino.handlers.models import ServedModel
from specvino.handlers.or_none import or_none

# The most characters of a request, where the context isn't so long that prompts are longer: others wait meanwhile.
LONGEST = 1 << 18
FOR_A_TOKEN = 8


class Tokens:
    """POST /tokenize."""

    def __init__(self, engine: Engine, served: ServedModel) -> None:
        self._engine = engine
        self._served = served

    async def tokenize(self, context: RequestContext, body: models.TokenizeRequest) -> Reply[wire.TokenizeResponse]:
        self._served.require(body.model)
        texts = [body.text] if isinstance(body.text, str) else body.text
        special = or_none(body.add_special_tokens)
        side: Literal["left", "right"] = or_none(body.padding_side) or "right"
        with engine_errors("text"):
            _require_length(texts, self._engine.model.context_length)
            tokens = await self._engine.tokenize(
                texts,
                add_special_tokens=True if special is None else special,
                max_length=or_none(body.max_length),
                pad=side if or_none(body.pad_to_max_length) else None,
            )
        return Reply({"tokens": tokens[0] if len(tokens) == 1 else tokens})


def _require_length(texts: Sequence[str], context_length: int) -> None:
    longest, length = max(LONGEST, FOR_A_TOKEN * context_length), sum(map(len, texts))
    if length > longest:
        raise PromptError(f"The text has {length} characters; at most {longest} are tokenized at a time.")
