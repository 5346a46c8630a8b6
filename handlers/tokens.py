"""POST /tokenize and /detokenize: converts texts, conversations and mixtures of texts and ids to tokens, and tokens to
texts.
"""

from collections.abc import Iterator
from typing import Literal

from specvino.engine.errors import TextTooLong
from specvino.engine.prompt_checks import check_length
from specvino.engine.protocol import Engine, ModelInfo
from specvino.engine.request import Conversation, Message, Tool, ToolCall
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import engine_errors, reported
from specvino.handlers.fields import or_none
from specvino.handlers.limits import Limits, require_supported, tokenized_characters
from specvino.handlers.models import ServedModels
from specvino.handlers.template import conversation, template_variables

# The maximum number of tokens of a request.
MOST_TOKENS = 1 << 18

# Each text is a request to the tokenizer.
MOST_TEXTS = 128

_OF_TEXTS = frozenset(["add_special_tokens", "max_length", "pad_to_max_length", "padding_side"])
_OF_TEMPLATES = ("tools", "chat_template", "chat_template_kwargs", "add_generation_prompt", "continue_final_message")

# The input fields, with the fields that affect them. The first given one counts.
FORMS = {
    "messages": frozenset(["add_special_tokens", *_OF_TEMPLATES]),
    "content": frozenset(["add_special", "parse_special"]),
    "prompt": _OF_TEXTS,
    "text": _OF_TEXTS,
}


class Tokens:
    """POST /tokenize and /detokenize."""

    def __init__(self, served: ServedModels, limits: Limits) -> None:
        self._served = served
        self._limits = limits

    async def tokenize(self, context: RequestContext, body: models.TokenizeRequest) -> Reply[wire.TokenizeResponse]:
        engine = self._served.require(body.model).engine
        self._require_supported(body, engine)
        form = form_of(body)
        with engine_errors(form):
            match form:
                case "messages":
                    lists = [await engine.render(_conversation(body, engine.model), tokenized_characters(engine.model))]
                case "content":
                    lists = [await _mixed(engine, body)]
                case _:
                    lists = await _texts(engine, body, getattr(body, form))
            # For a list in `prompt` the answer is a list of lists even with one text, but not for a list in `text`.
            several = len(lists) > 1 or (form == "prompt" and isinstance(body.prompt, list))
            unsupported = reported(context, without_effect(body, form, several=several))
            return Reply(await _answer(engine, body, lists, several=several), unsupported)

    async def detokenize(
        self, context: RequestContext, body: models.DetokenizeRequest
    ) -> Reply[wire.DetokenizeResponse]:
        engine = self._served.require(body.model).engine
        self._require_supported(body, engine)
        nested = [tokens for tokens in body.tokens if isinstance(tokens, list)]
        several, skip = bool(nested), or_none(body.skip_special_tokens) or False
        lists = nested or [[id for id in body.tokens if isinstance(id, int)]]
        with engine_errors("tokens"):
            if (count := sum(map(len, lists))) > MOST_TOKENS:
                raise TextTooLong(f"There are {count} tokens; at most {MOST_TOKENS} are detokenized at a time.")
            texts = [await engine.detokenize(tokens, skip_special_tokens=skip) for tokens in lists]
        return Reply({"prompt": texts if several else texts[0]})

    def _require_supported(self, body: models.TokenizeRequest | models.DetokenizeRequest, engine: Engine) -> None:
        with engine_errors("model"):
            model = engine.model
        require_supported(body, self._limits.facts_with(model))


def form_of(body: models.TokenizeRequest) -> str:
    """Returns the name of the input field."""
    return next(name for name in FORMS if _is_given(body, name))


def without_effect(body: models.TokenizeRequest, form: str, *, several: bool) -> Iterator[str]:
    """Yields the given fields that have no effect on this input field. The texts of single tokens are only returned for
    a single text.
    """
    others = (name for name in FORMS if name != form)
    unread = dict.fromkeys(name for fields in FORMS.values() for name in sorted(fields - FORMS[form]))
    of_one = ("return_token_strs", "with_pieces") if several else ()
    for name in (*others, *unread):
        if _is_given(body, name):
            yield name
    for name in of_one:
        if or_none(getattr(body, name)):
            yield name


def _is_given(body: models.TokenizeRequest, name: str) -> bool:
    return or_none(getattr(body, name)) is not None


def _conversation(body: models.TokenizeRequest, model: ModelInfo) -> Conversation:
    """Returns the messages with the inputs of the chat template."""
    messages = tuple(_message(message) for message in or_none(body.messages) or ())
    tools = tuple(_tool(tool.function) for tool in or_none(body.tools) or ())
    return conversation(body, messages, tools, template_variables(body, model))


def _message(message: models.TokenizedMessage) -> Message:
    content = message.content
    parts = content if isinstance(content, list) else ()
    calls = enumerate(or_none(message.tool_calls) or ())
    return Message(
        role="tool" if message.role == "function" else message.role,
        content=content if isinstance(content, str) else "".join(part.text for part in parts),
        name=or_none(message.name),
        tool_calls=tuple(_call(or_none(call.id) or f"call_{index}", call.function) for index, call in calls),
        tool_call_id=or_none(message.tool_call_id),
        reasoning=or_none(message.reasoning_content) or or_none(message.reasoning),
    )


def _call(id: str, function: models.TokenizedCalledFunction) -> ToolCall:
    return ToolCall(id, function.name, or_none(function.arguments) or "{}")


def _tool(function: models.TokenizedFunction) -> Tool:
    return Tool(function.name, or_none(function.description), or_none(function.parameters))


async def _texts(engine: Engine, body: models.TokenizeRequest, value: str | list[str]) -> list[list[int]]:
    texts = [value] if isinstance(value, str) else value
    special = or_none(body.add_special_tokens)
    side: Literal["left", "right"] = or_none(body.padding_side) or "right"
    check_length("The text", sum(map(len, texts)), tokenized_characters(engine.model))
    return await engine.tokenize(
        texts,
        add_special_tokens=True if special is None else special,
        max_length=or_none(body.max_length),
        pad=side if or_none(body.pad_to_max_length) else None,
    )


async def _mixed(engine: Engine, body: models.TokenizeRequest) -> list[int]:
    """Returns the tokens of a sequence of texts and tokens. Special tokens are added only to a text at the
    beginning.
    """
    content = or_none(body.content) or []
    parts = [content] if isinstance(content, str) else content
    texts = [part for part in parts if isinstance(part, str)]
    check_length("The text", sum(map(len, texts)), tokenized_characters(engine.model))
    if len(texts) > MOST_TEXTS:
        raise TextTooLong(f"There are {len(texts)} texts; at most {MOST_TEXTS} are tokenized at a time.")
    tokens: list[int] = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            special = bool(or_none(body.add_special)) and index == 0
            parse = or_none(body.parse_special) is not False
            tokens += (await engine.tokenize([part], add_special_tokens=special, parse_special=parse))[0]
        else:
            tokens.append(part)
    return tokens


async def _answer(
    engine: Engine, body: models.TokenizeRequest, lists: list[list[int]], *, several: bool
) -> wire.TokenizeResponse:
    length = engine.model.context_length
    if several:
        return {"tokens": lists, "count": [len(tokens) for tokens in lists], "max_model_len": length}
    (tokens,) = lists
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
