"""Compaction: a summary, which only this server can read, takes the place of a conversation's items."""

import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import msgspec

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.request import Message
from specvino.engine.segments import ReasoningDelta, TextDelta, ToolCallArguments, Usage
from specvino.generated import models, wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import or_none
from specvino.handlers.media import MessageDraft
from specvino.handlers.pipeline import CheckedRequest, Pipeline
from specvino.handlers.responses.emit import usage_of
from specvino.handlers.responses.request import InputItem, request_fields, stored, to_summarize
from specvino.handlers.truncation import KEPT, always_kept, generate_shortened

INSTRUCTION = (
    "Summarize the conversation above for somebody who will continue it without having read it. State the goals and "
    "constraints, what was decided and why, what is done, and what remains to be done. Keep names, numbers, paths, "
    "commands and errors that matter later exactly as they are. Answer with the summary only."
)

# The maximum length of a summary: in tokens, and as a part of the context.
_MOST_TOKENS = 2048
_PART_OF_CONTEXT = 4

# The default threshold, as a part of the context.
_FULL = 0.75

# An item that isn't a message. In the place of a dropped one, it keeps the indexes of the others.
_NOTHING = models.InputAdditionalTools(type="additional_tools", tools=[])


class _Content(msgspec.Struct):
    """The encrypted content of a compaction. If it is the `whole` conversation, no item before it is needed."""

    summary: str
    whole: bool


@dataclass(slots=True)
class OpenedConversation:
    """The conversation of a request, with summaries in the place of compactions, and without what these replace.
    `continued` is the field that names the earlier items, `users` are the user's messages."""

    continued: str = "previous_response_id"
    earlier: list[InputItem] = field(default_factory=list)
    input: str | list[InputItem] = field(default_factory=list)
    users: list[InputItem] = field(default_factory=list)

    def read(self, items: Iterable[InputItem], param: str, cipher: Cipher, *, indexed: bool) -> list[InputItem]:
        """Returns items of the field `param`, the latest of the conversation so far."""
        read: list[InputItem] = []
        for index, item in enumerate(items):
            match item:
                case models.InputCompaction():
                    path = f"{param}.{index}.encrypted_content" if indexed else param
                    content = _content(cipher.require(item.encrypted_content, path), path)
                    if content.whole:
                        self.earlier, read, self.users = [*map(_kept, self.earlier)], [*map(_kept, read)], []
                    read.append(models.InputMessage(role="user", content=_shown(content.summary)))
                    continue
                case models.InputMessage(role="user"):
                    self.users.append(item)
            read.append(item)
        return read


@dataclass(frozen=True, slots=True)
class CompactedConversation:
    """A conversation with a summary in the place of most messages, and the item with the summary."""

    messages: tuple[MessageDraft, ...]
    item: wire.OutputCompaction


class Compactor:
    """Summarizes conversations with the model of the request."""

    def __init__(self, pipeline: Pipeline, cipher: Cipher) -> None:
        self._pipeline = pipeline
        self._cipher = cipher

    async def response(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], conversation: OpenedConversation
    ) -> wire.CompactedResponse:
        """Returns the compacted conversation: the user's messages, and the summary of all messages."""
        summary, usage = await self._summarize(request, messages)
        output = [*stored(conversation.users), self._item(summary, whole=False)]
        return {
            "id": f"resp_{uuid.uuid4().hex}",
            "object": "response.compaction",
            "created_at": int(time.time()),
            "output": cast("list[wire.StoredItem]", output),
            "usage": usage_of(usage),
        }

    async def if_above_threshold(
        self,
        context: RequestContext,
        body: models.CreateResponseRequest,
        request: CheckedRequest,
        messages: Sequence[MessageDraft],
    ) -> CompactedConversation | None:
        """Returns the compacted conversation if the request wants that for a prompt of this length. System messages and
        the newest messages stay."""
        settings = or_none(body.context_management)
        if not settings:
            return None
        kept = always_kept([draft.message for draft in messages])
        if len(kept) == len(messages):
            return None
        default = int(request.model.context_length * _FULL)
        threshold = min(or_none(setting.compact_threshold) or default for setting in settings)
        if not await self._exceeds(request, messages, threshold):
            return None
        # Without tools, so that the model doesn't call one instead.
        asking = self._pipeline.check(context, request_fields(to_summarize(body.model)))
        summary, _ = await self._summarize(asking, messages)
        newest = [messages[index] for index in kept]
        asked = next((draft.message.content for draft in reversed(newest) if draft.message.role == "user"), "")
        whole = f"{summary}\n\nThe last request was:\n{asked}" if asked else summary
        head = [draft for draft in newest if draft.message.role in KEPT]
        tail = [draft for draft in newest if draft.message.role not in KEPT]
        shown = MessageDraft(Message("user", _shown(summary)))
        return CompactedConversation((*head, shown, *tail), self._item(whole, whole=True))

    async def _exceeds(self, request: CheckedRequest, messages: Sequence[MessageDraft], threshold: int) -> bool:
        try:
            return await self._pipeline.count(request, messages) > threshold
        except ApiError as error:  # of images, the engine counts no prompt that is too long
            if isinstance(error.__cause__, ContextLengthExceeded):
                return True
            raise

    async def _summarize(self, request: CheckedRequest, messages: Sequence[MessageDraft]) -> tuple[str, Usage]:
        most = min(_MOST_TOKENS, request.model.context_length // _PART_OF_CONTEXT)
        settings = request.engine_request.sampling
        settings = replace(settings, max_tokens=min(settings.max_tokens or most, most))
        request = replace(request, engine_request=replace(request.engine_request, sampling=settings))
        asking = (*messages, MessageDraft(Message("user", INSTRUCTION)))
        generate = partial(generate_shortened, request.served.engine)
        generation = await self._pipeline.converse(request, asking, generate)
        texts: list[str] = []
        others: list[str] = []
        usage = Usage(0, 0)
        async with aclosing(generation.events(lambda segment: (segment,))) as segments:
            async for segment in segments:
                match segment:
                    case TextDelta(text=text):
                        texts.append(text)
                    case ReasoningDelta(text=text) | ToolCallArguments(text=text):
                        others.append(text)
                    case Usage():
                        usage = segment
        # Reasoning that left no tokens for an answer, or a call, is better than nothing.
        return "".join(texts).strip() or "".join(others).strip(), usage

    def _item(self, summary: str, *, whole: bool) -> wire.OutputCompaction:
        content = msgspec.json.encode(_Content(summary, whole)).decode()
        return {
            "id": f"cmp_{uuid.uuid4().hex}",
            "type": "compaction",
            "encrypted_content": self._cipher.encrypt(content),
        }


def opened(
    earlier: Sequence[InputItem],
    input: str | Sequence[InputItem],
    cipher: Cipher,
    continued: str = "previous_response_id",
) -> OpenedConversation:
    """Returns the conversation of a request: the `earlier` items that it continues by the field `continued`, and its
    own input. Raises ApiError for compactions that this server didn't make."""
    conversation = OpenedConversation(continued)
    conversation.earlier = conversation.read(earlier, continued, cipher, indexed=False)
    if isinstance(input, str):
        conversation.input = input
        conversation.users += [models.InputMessage(role="user", content=input)]
    else:
        conversation.input = conversation.read(input, "input", cipher, indexed=True)
    return conversation


def _content(text: str, param: str) -> _Content:
    try:
        return msgspec.json.decode(text, type=_Content)
    except msgspec.DecodeError:
        message = f"{param} is not the content of a compaction."
        raise ApiError(ErrorCode.INVALID_ENCRYPTED_CONTENT, message, param=param) from None


def _kept(item: InputItem) -> InputItem:
    """Returns an item before a compaction of the whole conversation: system messages and tools stay."""
    match item:
        case models.InputMessage(role="system" | "developer"):
            return item
        case models.InputAdditionalTools() | models.InputToolSearchOutput():
            return models.InputAdditionalTools(type="additional_tools", tools=item.tools)
    return _NOTHING


def _shown(summary: str) -> str:
    return f"Summary of the conversation so far:\n{summary}"
