"""An engine without a model: an offline mock of the API, and faults on demand for tests.

It answers a conversation with its last user message, a text prompt with its text, and a token prompt with its ids as
words. A token is a word (`text/words.py`); every message of a conversation takes 4 tokens more, and the end of a turn
is a token, as in a real model. With a temperature above 0 the words are shuffled by the seed, so that choices differ
and each can be repeated. How likely a token was depends on the token alone. The worse texts of a search (best_of above
1) begin a word later each.

To a constraint it answers with a short text that the constraint allows, whatever the prompt; where a structural tag
leaves room for any text, or holds a grammar, it answers as without.

A `Script` changes that: given to the constructor for all prompts, or for one prompt in its own text (`script.py`).
"""

import asyncio
import random
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from itertools import cycle

from specvino.engine.admission import check_ids, numbered, room
from specvino.engine.errors import EngineRestarted, EngineUnavailable, ImageError, PromptError
from specvino.engine.grammar.forms import example, lower
from specvino.engine.protocol import Drafting, EngineStats, ModelInfo, State
from specvino.engine.request import Conversation, GenerationRequest, Image, Prompt, TextPrompt, TokenPrompt
from specvino.engine.script import AS_IT_COMES, Script, directed
from specvino.engine.segments import Finish, FinishReason, PromptText, Segment, Started, TextDelta, TokenLogprob, Usage
from specvino.engine.text.byte_table import ByteTableDetokenizer
from specvino.engine.text.choice_text import ChoiceText
from specvino.engine.text.fit import Side, fit
from specvino.engine.text.words import PAD_ID, VOCABULARY_SIZE, word_ids, words

CONTEXT_LENGTH = 4096

_MESSAGE_TOKENS = 4


class _Choice:
    """One answer on its way, a token a step; it is its prompt's choice number `place`."""

    def __init__(
        self, index: int, place: int, answer: Sequence[bytes], request: GenerationRequest, script: Script, limit: int
    ) -> None:
        sampling = request.sampling
        tokens = list(answer)
        if sampling.best_of > 1:  # the best text is the answer itself; each worse one begins a token later
            tokens = tokens[place:] + tokens[:place]
        elif sampling.temperature > 0 and request.constraint is None:
            random.Random(None if sampling.seed is None else sampling.seed + place).shuffle(tokens)
        # After the last token comes the end of the turn, unless that is ignored: then it starts again.
        tokens = (tokens or [b" "]) if sampling.ignore_eos else [*tokens, b""]
        self._source = cycle(range(len(tokens)))
        self._end = -1 if sampling.ignore_eos else len(tokens) - 1
        self._logprobs = [_logprob(token) for token in tokens]
        self._text = ChoiceText(ByteTableDetokenizer(tokens), sampling, logprobs=request.logprobs)
        self._index = index
        self._limit = limit
        self.script = script
        self.finished = False

    @property
    def tokens(self) -> int:
        return self._text.tokens

    def step(self) -> Iterator[Segment]:
        text = ""
        reason: FinishReason | None = "length"
        if self._limit:
            token = next(self._source)
            text = self._text.push([token], [self._logprobs[token]])
            reason = "stop" if token == self._end else "length" if self.tokens == self._limit else None
        if reason is not None and not self._text.stopped:
            text += self._text.finish()
        if self._text.stopped:
            reason = "stop"
        if text:
            yield TextDelta(self._index, text, self._text.take_logprobs())
        if reason is not None:
            self.finished = True
            yield Finish(self._index, reason, self._text.rest_logprobs())


class ScriptedEngine:
    """An Engine; see the module's text.

    `defaults` and `drafting` are what its model says of itself; drafting changes nothing in the answers.
    """

    def __init__(
        self,
        script: Script = AS_IT_COMES,
        *,
        defaults: Mapping[str, float | int] | None = None,
        drafting: Drafting | None = None,
    ) -> None:
        self._script = script
        self._defaults = defaults or {}
        self._drafting = drafting
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
        self._model = ModelInfo(CONTEXT_LENGTH, VOCABULARY_SIZE, self._defaults, self._drafting)

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
            unenforced = lower(request.constraint).unenforced if request.constraint else ()
            yield Started(prompt_tokens, unenforced)
            if request.echo:
                for index in range(len(choices)):
                    yield _echo(index, request)
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

    async def read_image(self, file: bytes | str, longest_side: int) -> Image:
        raise ImageError("This engine reads text only.")

    def _admit(self, prompt: Prompt, request: GenerationRequest, first: int) -> list[_Choice]:
        if isinstance(prompt, TokenPrompt):
            check_ids(prompt.ids, VOCABULARY_SIZE)
        text, script = directed(_to_be_answered(prompt), self._script)
        self._check_ready(script)
        if script.refused:
            raise PromptError("The prompt was refused by its script.")
        limit = request.sampling.max_tokens
        left = room(count_tokens(prompt), limit, CONTEXT_LENGTH)
        if limit is None:
            limit = min(left, int(self._defaults.get("max_tokens", left)))
        if request.constraint is not None:
            wanted = example(request.constraint)
            text = text if wanted is None else wanted
        answer = _tokens(text, script.token_bytes)
        return [_Choice(first + i, i, answer, request, script, limit) for i in range(request.n)]

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


def _logprob(token: bytes) -> float:
    """The same for the same token everywhere; the end of the turn is certain."""
    return -(zlib.crc32(token) % 1024) / 64


def _echo(choice: int, request: GenerationRequest) -> PromptText:
    prompt = request.prompts[choice // request.n]
    text = "" if isinstance(prompt, Conversation) else _to_be_answered(prompt)
    if not request.logprobs:
        return PromptText(choice, text)
    tokens = [TokenLogprob(word, word.encode(), _logprob(word.encode())) for word in words(text)]
    first = [TokenLogprob(token.text, token.bytes, None) for token in tokens[:1]]
    return PromptText(choice, text, (*first, *tokens[1:]))


def _to_be_answered(prompt: Prompt) -> str:
    match prompt:
        case Conversation():
            return next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")
        case TextPrompt():
            return prompt.text
        case TokenPrompt():
            return " ".join(map(str, prompt.ids))
