"""An engine without a model: an offline mock of the API, and faults on demand for tests.

It answers with the last user message. A token is a word with the white space before it; every message of a
prompt takes 4 tokens more, and the end of a turn is a token, as in a real model. With a temperature above 0 the
words are shuffled by the seed, so that choices differ and each can be repeated.

A `Script` changes that: given to the constructor for all requests, or for one request in the first line of its
last user message, as in

    script: delay=0.05 crash_at=3
    the text to be answered

A line of that kind that can't be read is refused as a prompt.
"""

import asyncio
import codecs
import random
import re
from collections.abc import AsyncGenerator, Iterator
from itertools import cycle

import msgspec

from specvino.engine.errors import ContextLengthExceeded, EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.protocol import EngineStats, ModelInfo, State
from specvino.engine.request import Conversation, GenerationRequest
from specvino.engine.segments import Finish, FinishReason, Segment, Started, TextDelta, Usage
from specvino.engine.text.stop import StopMatcher

CONTEXT_LENGTH = 4096

_MESSAGE_TOKENS = 4
_TOKEN = re.compile(r"\s*\S+|\s+$")


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an answer is like. Tokens are counted from 0, for each choice.

    `delay`: seconds before each token. `crash_at`: the engine is lost before this token (EngineRestarted).
    `stall_at`: this token never comes. `unavailable`: 1 refuses the request as EngineUnavailable. `refused`: 1
    refuses the prompt. `token_bytes`: above 0, tokens are so many bytes instead of words, and split code points.
    """

    delay: float = 0.0
    crash_at: int = -1
    stall_at: int = -1
    unavailable: int = 0
    refused: int = 0
    token_bytes: int = 0


AS_IT_COMES = Script()


class ScriptedEngine:
    """An Engine; see the module's text."""

    def __init__(self, script: Script = AS_IT_COMES) -> None:
        self._script = script
        self._model: ModelInfo | None = None
        self._closed = asyncio.Event()
        self._running = 0
        self._restarts = 0

    @property
    def model(self) -> ModelInfo:
        if self._model is None:
            raise EngineUnavailable("The engine has not been started.", retry_after=1)
        return self._model

    async def start(self) -> None:
        self._model = ModelInfo(context_length=CONTEXT_LENGTH, defaults={})

    def stats(self) -> EngineStats:
        state: State = "closed" if self._closed.is_set() else "ready" if self._model else "loading"
        return EngineStats(state=state, running=self._running, waiting=0, restarts=self._restarts)

    async def close(self) -> None:
        self._closed.set()

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        text, script = _directed(_last_user_message(request.prompt), self._script)
        if script.unavailable or self._model is None or self._closed.is_set():
            raise EngineUnavailable("The engine is not ready.", retry_after=1)
        if script.refused:
            raise PromptError("The prompt was refused by its script.")
        prompt_tokens = count_tokens(request.prompt)
        max_tokens = request.sampling.max_tokens
        if prompt_tokens + (max_tokens or 1) > CONTEXT_LENGTH:
            raise ContextLengthExceeded(prompt_tokens, max_tokens, CONTEXT_LENGTH)
        limit = max_tokens or CONTEXT_LENGTH - prompt_tokens
        self._running += request.n
        try:
            yield Started(prompt_tokens)
            choices = [_Choice(index, text, request, script, limit) for index in range(request.n)]
            step = 0
            while running := [choice for choice in choices if not choice.finished]:
                await self._before_token(step, script)
                for choice in running:
                    for segment in choice.step():
                        yield segment
                step += 1
            yield Usage(prompt_tokens, sum(choice.tokens for choice in choices))
        finally:
            self._running -= request.n

    async def _before_token(self, index: int, script: Script) -> None:
        if index == script.crash_at:
            self._restarts += 1
            raise EngineRestarted("The engine was restarted while it worked on this request.")
        try:
            await asyncio.wait_for(self._closed.wait(), None if index == script.stall_at else script.delay)
        except TimeoutError:
            return
        raise EngineUnavailable("The engine is closed.", retry_after=1)


class _Choice:
    """One answer on its way, a token a step."""

    def __init__(self, index: int, text: str, request: GenerationRequest, script: Script, limit: int) -> None:
        sampling = request.sampling
        tokens = _tokens(text, script.token_bytes)
        if sampling.temperature > 0:
            random.Random(None if sampling.seed is None else sampling.seed + index).shuffle(tokens)
        # After the last token comes the end of the turn, unless that is ignored: then it starts again.
        self._source = cycle(tokens or [b" "]) if sampling.ignore_eos else iter(tokens)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = StopMatcher(sampling.stop) if sampling.stop else None
        self._index = index
        self._limit = limit
        self.tokens = 0
        self.finished = False

    def step(self) -> Iterator[Segment]:
        token = next(self._source, None)
        self.tokens += 1
        reason: FinishReason | None = "stop" if token is None else "length" if self.tokens == self._limit else None
        text = self._decoder.decode(token or b"", final=reason is not None)
        if self._stop is not None:
            text, stopped = self._stop.push(text)
            if stopped:
                reason = "stop"
            elif reason is not None:
                text += self._stop.finish()
        if text:
            yield TextDelta(self._index, text)
        if reason is not None:
            self.finished = True
            yield Finish(self._index, reason)


def count_tokens(conversation: Conversation) -> int:
    """The length of a prompt by the rule of this engine."""
    return sum(_MESSAGE_TOKENS + len(_TOKEN.findall(message.content)) for message in conversation.messages)


def _tokens(text: str, token_bytes: int) -> list[bytes]:
    if token_bytes == 0:
        return [token.encode() for token in _TOKEN.findall(text)]
    data = text.encode()
    return [data[start : start + token_bytes] for start in range(0, len(data), token_bytes)]


def _last_user_message(conversation: Conversation) -> str:
    return next((message.content for message in reversed(conversation.messages) if message.role == "user"), "")


def _directed(text: str, script: Script) -> tuple[str, Script]:
    """Takes the line of directives, if there is one, off the text and applies it."""
    if not text.startswith("script:"):
        return text, script
    line, _, text = text.partition("\n")
    words = (word.partition("=") for word in line.removeprefix("script:").split())
    directives = {name: value for name, _, value in words}
    try:
        return text, msgspec.convert(msgspec.structs.asdict(script) | directives, Script, strict=False)
    except msgspec.ValidationError as error:
        raise PromptError(f"The script can't be read: {error}") from error
