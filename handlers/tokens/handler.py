"""Binds /tokenize and /detokenize to the engine."""

from typing import Literal

from specvino.engine.errors import PromptError
from specvino.engine.prompt_checks import check_length
from specvino.engine.protocol import Engine
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import engine_errors
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModels
from specvino.handlers.or_none import or_none
from specvino.handlers.tokens.conversation import conversation
from specvino.handlers.tokens.forms import form_of, without_effect
from specvino.handlers.unsupported import reported

# The most characters of a request, where the context isn't so long that prompts are longer: others wait meanwhile.
LONGEST = 1 << 18
FOR_A_TOKEN = 8

# Each is a request to the tokenizer.
MOST_TEXTS = 128


class Tokens:
    """POST /tokenize and /detokenize."""

    def __init__(self, served: ServedModels, limits: Limits) -> None:
        self._served = served
        self._limits = limits

    async def tokenize(self, context: RequestContext, body: models.TokenizeRequest) -> Reply[wire.TokenizeResponse]:
        engine = self._served.require(body.model).engine
        self._limits.require_trust(or_none(body.chat_template))
        form = form_of(body)
        with engine_errors(form):
            match form:
                case "messages":
                    found = [await engine.render(conversation(body, engine.model), _longest(engine))]
                case "content":
                    found = [await _mixed(engine, body)]
                case _:
                    found = await _texts(engine, body, getattr(body, form))
            # A list of one prompt has a list of one list, a list of one text doesn't.
            several = len(found) > 1 or (form == "prompt" and isinstance(body.prompt, list))
            unsupported = reported(context, without_effect(body, form, several=several))
            return Reply(await _answer(engine, body, found, several=several), unsupported)

    async def detokenize(
        self, context: RequestContext, body: models.DetokenizeRequest
    ) -> Reply[wire.DetokenizeResponse]:
        engine = self._served.require(body.model).engine
        lists = [each for each in body.tokens if isinstance(each, list)]
        several, skip = bool(lists), or_none(body.skip_special_tokens) or False
        given = lists or [[each for each in body.tokens if isinstance(each, int)]]
        with engine_errors("tokens"):
            if (count := sum(map(len, given))) > LONGEST:
                raise PromptError(f"There are {count} tokens; at most {LONGEST} are detokenized at a time.")
            texts = [await engine.detokenize(each, skip_special_tokens=skip) for each in given]
        return Reply({"prompt": texts if several else texts[0]})


async def _texts(engine: Engine, body: models.TokenizeRequest, given: str | list[str]) -> list[list[int]]:
    texts = [given] if isinstance(given, str) else given
    special = or_none(body.add_special_tokens)
    side: Literal["left", "right"] = or_none(body.padding_side) or "right"
    check_length("The text", sum(map(len, texts)), _longest(engine))
    return await engine.tokenize(
        texts,
        add_special_tokens=True if special is None else special,
        max_length=or_none(body.max_length),
        pad=side if or_none(body.pad_to_max_length) else None,
    )


async def _mixed(engine: Engine, body: models.TokenizeRequest) -> list[int]:
    """Returns the tokens of texts between which tokens stand: those around a text are at the first alone."""
    content = or_none(body.content) or []
    parts = [content] if isinstance(content, str) else content
    texts = [part for part in parts if isinstance(part, str)]
    check_length("The text", sum(map(len, texts)), _longest(engine))
    if len(texts) > MOST_TEXTS:
        raise PromptError(f"There are {len(texts)} texts; at most {MOST_TEXTS} are tokenized at a time.")
    size = engine.model.vocabulary_size
    found: list[int] = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            special = bool(or_none(body.add_special)) and index == 0
            parse = or_none(body.parse_special) is not False
            found += (await engine.tokenize([part], add_special_tokens=special, parse_special=parse))[0]
        elif part < size:
            found.append(part)
        else:
            raise PromptError(f"The model has no token {part}: its token ids are 0 to {size - 1}.")
    return found


async def _answer(
    engine: Engine, body: models.TokenizeRequest, found: list[list[int]], *, several: bool
) -> wire.TokenizeResponse:
    length = engine.model.context_length
    if several:
        return {"tokens": found, "count": [len(tokens) for tokens in found], "max_model_len": length}
    (tokens,) = found
    answer: wire.TokenizeResponse = {"tokens": tokens, "count": len(tokens), "max_model_len": length}
    shows_strings, shows_pieces = or_none(body.return_token_strs), or_none(body.with_pieces)
    if not (shows_strings or shows_pieces):
        return answer
    pieces = await engine.token_bytes(tokens)
    if shows_strings:
        answer["token_strs"] = [piece.decode(errors="replace") for piece in pieces]
    if shows_pieces:
        answer["tokens"] = [_with_piece(id, piece) for id, piece in zip(tokens, pieces, strict=True)]
    return answer


def _with_piece(id: int, piece: bytes) -> wire.TokenPiece:
    try:
        return {"id": id, "piece": piece.decode()}
    except UnicodeDecodeError:
        return {"id": id, "piece": list(piece)}


def _longest(engine: Engine) -> int:
    return max(LONGEST, FOR_A_TOKEN * engine.model.context_length)
