"""An engine without a model: an offline mock of the API, and faults on demand for tests.

It answers a conversation with its last user message, a text prompt with its text, and a token prompt with its ids as
words. A token is a word (`text/words.py`); every message of a conversation takes 4 tokens more, and the end of a turn
is a token, as in a real model. With a temperature above 0 the words are shuffled by the seed, so that choices differ
and each can be repeated.

A `Script` changes that: given to the constructor for all prompts, or for one prompt in its own text (`script.py`).
"""

import asyncio
import codecs
import random
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import cycle

from specvino.engine.admission import check_ids, numbered, room
from specvino.engine.errors import EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.protocol import EngineStats, ModelInfo, State
from specvino.engine.request import Conversation, GenerationRequest, Prompt, Sampling, TextPrompt, TokenPrompt
from specvino.engine.script import AS_IT_COMES, Script, directed
from specvino.engine.segments import Finish, FinishReason, Segment, Started, TextDelta, Usage
from specvino.engine.text.fit import Side, fit
from specvino.engine.text.stop import StopMatcher
from specvino.engine.text.words import PAD_ID, VOCABULARY_SIZE, word_ids, words

CONTEXT_LENGTH = 4096

_MESSAGE_TOKENS = 4


class _Choice:
    """One answer on its way, a token a step; it is its prompt's choice number `place`."""

    def __init__(self, index: int, place: int, text: str, sampling: Sampling, script: Script, limit: int) -> None:
        tokens = _tokens(text, script.token_bytes)
        if sampling.temperature > 0:
            random.Random(None if sampling.seed is None else sampling.seed + place).shuffle(tokens)
        # After the last token comes the end of the turn, unless that is ignored: then it starts again.
        self._source = cycle(tokens or [b" "]) if sampling.ignore_eos else iter(tokens)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = StopMatcher(sampling.stop) if sampling.stop else None
        self._index = index
        self._limit = limit
        self.script = script
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
        self._model = ModelInfo(context_length=CONTEXT_LENGTH, vocabulary_size=VOCABULARY_SIZE, defaults={})

    def stats(self) -> EngineStats:
        state: State = "closed" if self._closed.is_set() else "ready" if self._model else "loading"
        return EngineStats(state=state, running=self._running, waiting=0, restarts=self._restarts)

    async def close(self) -> None:
        self._closed.set()

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        choices: list[_Choice] = []
        for index, prompt in enumerate(request.prompts):
            with numbered("Prompt", index, len(request.prompts)):
                choices += self._admit(prompt, request, first=len(choices))
        prompt_tokens = sum(count_tokens(prompt) for prompt in request.prompts)
        self._running += len(choices)
        try:
            yield Started(prompt_tokens)
            step = 0
            while running := [choice for choice in choices if not choice.finished]:
                for script in dict.fromkeys(choice.script for choice in running):
                    await self._before_token(step, script)
                for choice in running:
                    for segment in choice.step():
                        yield segment
                step += 1
            yield Usage(prompt_tokens, sum(choice.tokens for choice in choices))
        finally:
            self._running -= len(choices)

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        max_length: int | None = None,
        pad: Side | None = None,
    ) -> list[list[int]]:
        self._check_ready(self._script)
        return [fit(word_ids(text), max_length, pad, PAD_ID) for text in texts]

    def _admit(self, prompt: Prompt, request: GenerationRequest, first: int) -> list[_Choice]:
        if isinstance(prompt, TokenPrompt):
            check_ids(prompt.ids, VOCABULARY_SIZE)
        text, script = directed(_to_be_answered(prompt), self._script)
        self._check_ready(script)
        if script.refused:
            raise PromptError("The prompt was refused by its script.")
        max_tokens = request.sampling.max_tokens
        left = room(count_tokens(prompt), max_tokens, CONTEXT_LENGTH)
        return [_Choice(first + i, i, text, request.sampling, script, max_tokens or left) for i in range(request.n)]

    def _check_ready(self, script: Script) -> None:
        if script.unavailable or self._model is None or self._closed.is_set():
            raise EngineUnavailable("The engine is not ready.", retry_after=1)

    async def _before_token(self, index: int, script: Script) -> None:
        if index == script.crash_at:
            self._restarts += 1
            raise EngineRestarted("The engine was restarted while it worked on this request.")
        try:
            await asyncio.wait_for(self._closed.wait(), None if index == script.stall_at else script.delay)
        except TimeoutError:
            return
        raise EngineUnavailable("The engine is closed.", retry_after=1)


def count_tokens(prompt: Prompt) -> int:
    """The length of a prompt by the rule of this engine."""
    match prompt:
        case Conversation():
            return sum(_MESSAGE_TOKENS + len(words(message.content)) for message in prompt.messages)
        case TextPrompt():
            return len(words(prompt.text))
        case TokenPrompt():
            return len(prompt.ids)


def _tokens(text: str, token_bytes: int) -> list[bytes]:
    if token_bytes == 0:
        return [word.encode() for word in words(text)]
    data = text.encode()
    return [data[start : start + token_bytes] for start in range(0, len(data), token_bytes)]


def _to_be_answered(prompt: Prompt) -> str:
    match prompt:
        case Conversation():
            return next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")
        case TextPrompt():
            return prompt.text
        case TokenPrompt():
            return " ".join(map(str, prompt.ids))
