"""The client of the preprocess process, and of the template process for chat templates in requests."""

import asyncio
import itertools
from array import array
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from specvino.engine.errors import (
    ChatTemplateError,
    ContextLengthExceeded,
    EngineRestarted,
    EngineUnavailable,
    PromptError,
    TextTooLong,
)
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.client.images import without_pixels
from specvino.engine.openvino.messages.images import break_image_tags
from specvino.engine.openvino.messages.preprocess import (
    ENDING,
    OUT_OF_BOUNDS,
    Cut,
    Detokenize,
    Detokenized,
    FromPreprocess,
    LoadTokenizer,
    Preprocess,
    Preprocessed,
    PromptRefused,
    PromptTooLong,
    RenderingRefused,
    RenderTemplate,
    Spell,
    Spelt,
    StartTemplateProcess,
    TemplateRendered,
    Tokenize,
    Vocabulary,
)
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.processes.losses import log_lost
from specvino.engine.processes.request_reply import ProcessCrashed, RequestReplyClient
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.processes.turns import Turns
from specvino.engine.prompt_checks import check_ids, check_length
from specvino.engine.protocol import CLIENT, REQUEST
from specvino.engine.request import Conversation, Prompt, TextPrompt, TokenPrompt
from specvino.engine.segments import Hidden


class TemplateClient:
    """Renders conversations by their own chat templates, in a process that starts with the first one."""

    def __init__(self, vocabulary: Vocabulary, deadline: float) -> None:
        self._renderings = RequestReplyClient(
            "template",
            "specvino.engine.openvino.sandbox.template",
            StartTemplateProcess(vocabulary.variables, vocabulary.marked),
            TemplateRendered | RenderingRefused,
            deadline,
        )

    @property
    def pid(self) -> int | None:
        """Returns the process; None if it wasn't needed yet or is being restarted."""
        return self._renderings.process.pid

    async def render(self, prompt: Conversation, *, as_text: bool) -> TemplateRendered:
        """Returns the rendered prompt. Raises ChatTemplateError and EngineUnavailable."""
        try:
            answer = await self._renderings.ask(lambda id: RenderTemplate.of(id, prompt, as_text=as_text))
        except ProcessCrashed:
            answer = RenderingRefused(0, OUT_OF_BOUNDS)
        if isinstance(answer, RenderingRefused):
            raise ChatTemplateError(f"The chat template refuses these messages: {answer.reason}")
        assert isinstance(answer, TemplateRendered)
        return answer

    async def close(self) -> None:
        await self._renderings.close()


Answer = Preprocessed | Detokenized | Spelt | PromptTooLong | PromptRefused


# Questions that are sent ahead, so that the process always has the next one, unless they have so many bytes: then it is
# one, so that a question waits for at most one large one of others. The rest waits here, where clients take turns, and
# questions of clients that have left are dropped.
_AHEAD = 2
_LARGE = 16_000


@dataclass(eq=False, slots=True)
class _Question:
    id: int
    kind: str
    encoded: msgspec.Raw
    request: str
    answer: asyncio.Future[Answer]


class Tokenized(NamedTuple):
    """A prompt's token ids and, for a vision-language model, its text, whose image tags aren't among the tokens.
    `ending` is the end of a conversation's text, as the chat template rendered it or as it was sent, and `hidden` are
    the parts that the template doesn't render.
    """

    token_ids: bytes
    text: str | None = None
    ending: str = ""
    hidden: tuple[Hidden, ...] = ()


class PreprocessClient:
    """Sends questions to the preprocess process, which answers one after the other. Clients take turns, and so do the
    requests of a client. If the process is silent for `deadline` seconds, the first question is blamed.

    That one fails with EngineUnavailable, as the machine may be busy. When the process is lost, the questions that were
    sent after it fail with EngineRestarted; they aren't sent again. All methods raise PromptError, EngineUnavailable
    and EngineRestarted.
    """

    def __init__(self, source: ModelSource, deadline: float, chat_template: str | None = None) -> None:
        self.vocabulary: Vocabulary  # set when the process is ready for the first time
        self._templates: TemplateClient | None = None  # for templates in requests, when first needed
        self._vision = source.vision
        self._deadline = deadline
        self._ids = itertools.count()
        self._turns: Turns[_Question] = Turns()
        self._owed: dict[int, _Question] = {}  # in the order of sending, including those whose clients left
        self.process = Supervisor(
            "preprocess",
            "specvino.engine.openvino.preprocess",
            LoadTokenizer(str(source.path), source.context_length, chat_template),
            incoming=FromPreprocess,
            on_message=self._receive,
            on_lost=self._lost,
            busy=lambda: bool(self._owed),
            stall_timeout=deadline,
            quiet=True,  # tokenizers write clients' texts to stderr, which must not be logged
        )

    async def preprocess(self, prompt: Prompt, cut: Cut | None = None) -> Tokenized:
        text = None
        match prompt:
            case Conversation(rendered=str(rendered)):
                return await self._ended(await self.preprocess(TextPrompt(rendered), cut))
            case Conversation(rendered=tuple(rendered)):
                return await self._ended(await self.preprocess(TokenPrompt(rendered), cut))
            case Conversation():
                message = Preprocess.of(next(self._ids), without_pixels(prompt), as_text=self._vision, cut=cut)
                answer = await self._render(message)
            case TextPrompt():
                text = break_image_tags(prompt.text) if self._vision else None
                special = prompt.add_special_tokens
                answer = await self._tokenize(
                    Tokenize(next(self._ids), text or prompt.text, special, prompt=True, cut=cut)
                )
            case TokenPrompt() if self._vision:
                raise PromptError("Vision-language models don't accept token ids.")
            case TokenPrompt():
                check_ids(prompt.ids, self.vocabulary.size)
                return Tokenized(_kept(array("q", prompt.ids).tobytes(), cut))
        if isinstance(answer, PromptTooLong):
            raise ContextLengthExceeded(answer.count, None, answer.limit, more=answer.more)
        return Tokenized(answer.token_ids, answer.text or text, answer.ending, answer.hidden)

    async def tokenize(self, text: str, *, add_special_tokens: bool, parse_special: bool = True) -> bytes:
        """Returns the token ids of a text that isn't a prompt: it may be longer than the model's context."""
        message = Tokenize(next(self._ids), text, add_special_tokens, parse_special=parse_special)
        answer = await self._tokenize(message)
        if isinstance(answer, PromptTooLong):
            raise TextTooLong(f"The text has about {answer.count} tokens; the tokenizer's limit is {answer.limit - 1}.")
        return answer.token_ids

    async def render(self, conversation: Conversation, most_characters: int) -> bytes:
        """Returns the token ids of a conversation that isn't a prompt."""
        message = Preprocess.of(
            next(self._ids), without_pixels(conversation), as_text=self._vision, most_characters=most_characters
        )
        answer = await self._render(message)
        if isinstance(answer, PromptTooLong):
            if answer.unit == "characters":
                check_length("The chat template's text", answer.count, answer.limit)
            tokens = f"The messages become about {answer.count} tokens"
            raise TextTooLong(f"{tokens}; the tokenizer's limit is {answer.limit - 1}.")
        return answer.token_ids

    async def detokenize(self, token_ids: bytes, *, skip_special_tokens: bool = False) -> str:
        """Returns the text of tokens."""
        answer = await self._read(Detokenize(next(self._ids), token_ids, skip_special_tokens))
        assert isinstance(answer, Detokenized)
        return answer.text

    async def token_bytes(self, token_ids: bytes) -> list[bytes]:
        """Returns the bytes of each token."""
        answer = await self._read(Spell(next(self._ids), token_ids))
        assert isinstance(answer, Spelt)
        return answer.pieces

    @property
    def template_pid(self) -> int | None:
        """Returns the template process; None if it wasn't needed yet or is being restarted."""
        return self._templates.pid if self._templates else None

    async def close(self) -> None:
        await self.process.close()
        if self._templates:
            await self._templates.close()
        for question in (*self._owed.values(), *self._turns.clear()):
            if not question.answer.done():
                question.answer.set_exception(EngineUnavailable("The server is shutting down.", retry_after=1))

    async def _render(self, message: Preprocess) -> Preprocessed | PromptTooLong:
        hidden: tuple[Hidden, ...] = ()
        if message.prompt.chat_template:
            rendered = await self._rendered(message)
            message.pieces, hidden = rendered.pieces, rendered.hidden
            message.prompt = replace(message.prompt, messages=(), tools=(), chat_template=None)
            message.parameters = "[]"
        answer = await self._ask(message)
        if isinstance(answer, PromptRefused):
            whose = "The model's" if message.pieces is None else "The"
            raise ChatTemplateError(f"{whose} chat template refuses these messages: {answer.reason}")
        assert isinstance(answer, Preprocessed | PromptTooLong)
        if isinstance(answer, Preprocessed):
            answer.hidden = answer.hidden or hidden
        return answer

    async def _rendered(self, message: Preprocess) -> TemplateRendered:
        """Returns the conversation as its own template renders it."""
        self.process.check_ready()
        if self._templates is None:
            self._templates = TemplateClient(self.vocabulary, self._deadline)
        return await self._templates.render(message.conversation(), as_text=message.as_text)

    async def _tokenize(self, message: Tokenize) -> Preprocessed | PromptTooLong:
        answer = await self._ask(message)
        if isinstance(answer, PromptRefused):
            raise PromptError(f"The model's tokenizer refuses this text: {answer.reason}")
        assert isinstance(answer, Preprocessed | PromptTooLong)
        return answer

    async def _read(self, message: Detokenize | Spell) -> Answer:
        answer = await self._ask(message)
        if isinstance(answer, PromptRefused):
            raise PromptError(f"The model's tokenizer refuses these tokens: {answer.reason}")
        return answer

    async def _ended(self, tokenized: Tokenized) -> Tokenized:
        """Returns the prompt of a conversation that was sent rendered, with the end of its text."""
        end = tokenized.token_ids[-TOKEN_ID_BYTES * ENDING :]
        return tokenized._replace(ending=(await self.detokenize(end))[-ENDING:])

    async def _ask(self, message: Preprocess | Tokenize | Detokenize | Spell) -> Answer:
        self.process.check_ready()
        encoded = msgspec.Raw(msgspec.msgpack.encode(message))  # here: a text that can't be encoded raises
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        question = _Question(message.id, type(message).__name__, encoded, REQUEST.get(), answer)
        self._turns.add(CLIENT.get(), question.request, question, len(encoded))
        self._send_next()
        return await answer

    def _send_next(self) -> None:
        """Sends the questions whose turn it is. Those that wait while the process is lost fail with
        EngineUnavailable.
        """
        while len(self._owed) < _AHEAD and sum(len(sent.encoded) for sent in self._owed.values()) < _LARGE:
            question = self._turns.take()
            if question is None:
                return
            if question.answer.done():  # its client has left
                continue
            try:
                self.process.check_ready()
            except EngineUnavailable as error:
                question.answer.set_exception(error)
            else:
                self._owed[question.id] = question
                self.process.send(question.encoded)

    def _receive(self, message: FromPreprocess) -> None:
        if isinstance(message, Vocabulary):
            self.vocabulary = message
            return
        answer = self._owed.pop(message.id).answer
        if not answer.done():  # its request may have been cancelled meanwhile
            answer.set_result(message)
        self._send_next()

    def _lost(self, reason: str, stalled: bool) -> None:
        owed, self._owed = self._owed, {}
        for index, question in enumerate(owed.values()):
            if question.answer.done():
                continue
            if stalled and index == 0:
                late = f"Preparing the input took more than {self._deadline:g} s: the server is busy."
                question.answer.set_exception(EngineUnavailable(late, retry_after=5))
            else:
                log_lost("preprocess", question.kind, question.request)
                error = EngineRestarted(f"The request was lost: {reason}.")
                error.logged = True
                question.answer.set_exception(error)
        self._send_next()


def _kept(token_ids: bytes, cut: Cut | None) -> bytes:
    if cut is None:
        return token_ids
    kept = TOKEN_ID_BYTES * cut.tokens
    return token_ids[:kept] if cut.first else token_ids[-kept:]
