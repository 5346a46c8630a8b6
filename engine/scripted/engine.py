"""An engine without a model: an offline mock of the API, and faults on demand for tests.

It answers a conversation with its last user message, or with the results of calls that end it, so that an agent comes
to an end; a text prompt with its text, and a token prompt with its ids as words. A token is a word
(`mock_tokenizer.py`); every message of a conversation takes 4 tokens more, and the end of a turn is a token, as in a
real model. With a temperature above 0 the words are shuffled by the seed, so that choices differ and each can be
repeated. How likely a token was depends on the token alone, and nothing that is done to the scores of tokens (a bias,
allowed or bad ones) changes what comes. The worse texts of a search (best_of above 1) begin a word later each.

To a constraint it answers with a short text that the constraint allows, whatever the prompt; where a structural tag
leaves room for any text, or holds a grammar, it answers as without. If it must call, it calls the first two tools, or
as often as its script says, with short arguments that they allow: always the same for a tool. Tool calls and reasoning
are written as in the formats hermes3 and qwen3: a message may hold them, too, and they are recognised when it comes
back.

A `Script` changes that: given to the constructor for all prompts, or for one prompt in its own text (`script.py`).
"""

import asyncio
import json
import math
import random
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, takewhile
from typing import Any

from specvino.engine.admission import check_ids, check_length, numbered, room
from specvino.engine.errors import ConstraintError, EngineRestarted, EngineUnavailable, ImageError, PromptError
from specvino.engine.grammar import NO_ARGUMENTS, Path
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import ByteTableDetokenizer
from specvino.engine.output.tokens import pad_truncate
from specvino.engine.output_parsers import OutputParser
from specvino.engine.output_parsers.selection import AS_TAUGHT, SelectedParsers, require_object
from specvino.engine.protocol import Drafting, EngineStats, ModelInfo, PaddingSide, State
from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    JsonSchema,
    Prompt,
    ReadImage,
    TextPrompt,
    TokenPrompt,
    Tool,
)
from specvino.engine.scripted.constraints import worked_out
from specvino.engine.scripted.mock_tokenizer import PAD_ID, VOCABULARY_SIZE, word_id, word_ids, word_of, words
from specvino.engine.scripted.script import AS_IT_COMES, Script, directed
from specvino.engine.segments import (
    Finish,
    FinishReason,
    PromptLogprobs,
    PromptText,
    PromptToken,
    Segment,
    Started,
    TokenIds,
    TokenLogprob,
    TopToken,
    Usage,
)

CONTEXT_LENGTH = 4096

_MESSAGE_TOKENS = 4

_LEAST = -9999.0


class _Choice:
    """Is one answer on its way, a token a step; it is its prompt's choice number `place`."""

    def __init__(
        self,
        index: int,
        place: int,
        answer: Sequence[bytes],
        request: GenerationRequest,
        script: Script,
        limit: int,
        parser: OutputParser | None,
    ) -> None:
        sampling = request.sampling
        tokens = list(answer)
        if sampling.best_of > 1:  # the best text is the answer itself; each worse one begins a token later
            tokens = tokens[place:] + tokens[:place]
        elif sampling.temperature > 0 and not (request.constraint or script.think or script.calls or _calling(answer)):
            random.Random(None if sampling.seed is None else sampling.seed + place).shuffle(tokens)
        # After the last token comes the end of the turn, unless that is ignored or too early: then it starts again.
        if sampling.ignore_eos or sampling.min_tokens:
            tokens = tokens or [b" "]
        stops = frozenset(place for place, token in enumerate(tokens) if word_id(token) in sampling.stop_token_ids)
        sampling = replace(sampling, stop_token_ids=stops)
        tokens = tokens if sampling.ignore_eos else [*tokens, b""]
        self._source = cycle(range(len(tokens)))
        self._end = -1 if sampling.ignore_eos else len(tokens) - 1
        self._ids = [word_id(token) for token in tokens] if request.token_ids else []
        self._early = sampling.min_tokens
        self._tokens = tokens
        self._logprobs = [_logprob(token) for token in tokens]
        self._likeliest = [_shown(token, request) for token in tokens]
        text = ChoiceText(ByteTableDetokenizer(tokens), sampling, logprobs=request.logprobs)
        self.output = ChoiceOutput(
            index, text, parser, must_call=request.must_call, parallel_calls=request.parallel_calls
        )
        self._left = limit
        self.script = script
        self.finished = False

    def step(self) -> Iterator[Segment]:
        tokens: list[int] = []
        reason: FinishReason | None = "length"
        if self._left:
            self._left -= 1
            tokens = [next(self._source)]
            if tokens == [self._end] and self.output.tokens < self._early:
                tokens = [next(self._source)]
            reason = "stop" if tokens == [self._end] else None if self._left else "length"
        if self._ids and tokens:
            yield TokenIds(self.output.index, tuple(self._ids[token] for token in tokens))
        logprobs = [self._logprobs[token] for token in tokens]
        for segment in self.output.push(tokens, logprobs, reason, [self._likeliest[token] for token in tokens]):
            if isinstance(segment, Finish):
                self.finished = True
                if isinstance(segment.stopped_by, int):
                    segment = replace(segment, stopped_by=word_id(self._tokens[segment.stopped_by]))
            yield segment


class ScriptedEngine:
    """Is an Engine; see the module's text.

    `defaults` and `drafting` are what its model says of itself; drafting changes nothing in the answers. `parsers` are
    at most hermes3 and qwen3.
    """

    def __init__(
        self,
        script: Script = AS_IT_COMES,
        *,
        defaults: Mapping[str, float | int] | None = None,
        drafting: Drafting | None = None,
        parsers: SelectedParsers = AS_TAUGHT,
    ) -> None:
        self._script = script
        self._defaults = defaults or {}
        self._drafting = drafting
        self._parsers = parsers
        self._model: ModelInfo | None = None
        self._closed = asyncio.Event()
        self.generated_tokens = 0
        self._running = 0
        self._restarts = 0

    @property
    def model(self) -> ModelInfo:
        if self._model is None:
            raise EngineUnavailable("The engine has not been started.", retry_after=1)
        return self._model

    async def start(self) -> None:
        self._model = ModelInfo(
            CONTEXT_LENGTH,
            VOCABULARY_SIZE,
            self._defaults,
            self._drafting,
            calling=self._parsers.calling,
            thinking_variables=frozenset(["enable_thinking"]),
        )

    def stats(self) -> EngineStats:
        state: State = "closed" if self._closed.is_set() else "ready" if self._model else "loading"
        return EngineStats(state=state, running=self._running, waiting=0, restarts=self._restarts)

    async def close(self) -> None:
        self._closed.set()

    async def check(self, request: GenerationRequest) -> None:
        _unenforced_arguments(request)
        self._admit_all(_with_cut_prompts(request))

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        unenforced_arguments = _unenforced_arguments(request)
        request = _with_cut_prompts(request)
        choices = self._admit_all(request)
        prompt_tokens = sum(count_tokens(prompt) for prompt in request.prompts)
        self._running += len(choices)
        try:
            unenforced = worked_out(request.constraint).lowered.unenforced if request.constraint else ()
            ids = tuple(tuple(prompt_ids(prompt)) for prompt in request.prompts) if request.token_ids else ()
            yield Started(prompt_tokens, unenforced, unenforced_arguments, ids)
            if request.prompt_logprobs is not None:
                for index in range(len(choices)):
                    yield _prompt_logprobs(index, request, request.prompt_logprobs)
            if request.echo:
                for index in range(len(choices)):
                    yield _echo(index, request)
            step = 0
            while running := [choice for choice in choices if not choice.finished]:
                for script in dict.fromkeys(choice.script for choice in running):
                    await self._before_token(step, script)
                for choice in running:
                    read = choice.output.tokens
                    for segment in choice.step():
                        yield segment
                    self.generated_tokens += choice.output.tokens - read
                step += 1
            outputs = [choice.output for choice in choices]
            tokens = sum(output.tokens for output in outputs)
            yield Usage(prompt_tokens, tokens, sum(output.reasoning_tokens for output in outputs))
        finally:
            self._running -= len(choices)

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        parse_special: bool = True,
        max_length: int | None = None,
        pad: PaddingSide | None = None,
    ) -> list[list[int]]:
        self._check_ready(self._script)
        return [pad_truncate(word_ids(text), max_length, pad, PAD_ID) for text in texts]

    async def render(self, conversation: Conversation, most_characters: int) -> list[int]:
        self._check_ready(self._script)
        check_length("The conversation", sum(map(len, _texts(conversation))), most_characters)
        return prompt_ids(conversation)

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        return b"".join(await self.token_bytes(token_ids)).decode()

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        self._check_ready(self._script)
        check_ids(token_ids, VOCABULARY_SIZE)
        return [word_of(id).encode() for id in token_ids]

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        raise ImageError("This engine reads text only.")

    def _admit_all(self, request: GenerationRequest) -> list[_Choice]:
        choices: list[_Choice] = []
        for index, prompt in enumerate(request.prompts):
            with numbered("Prompt", index, len(request.prompts)):
                choices += self._admit(prompt, request, first=len(choices))
        return choices

    def _admit(self, prompt: Prompt, request: GenerationRequest, first: int) -> list[_Choice]:
        match prompt:
            case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
                check_ids(ids, VOCABULARY_SIZE)
        text, script = directed(_to_be_answered(prompt), self._script)
        self._check_ready(script)
        if script.refused:
            raise PromptError("The prompt was refused by its script.")
        limit = request.sampling.max_tokens
        left = room(count_tokens(prompt), limit, CONTEXT_LENGTH)
        if limit is None:
            limit = min(left, int(self._defaults.get("max_tokens", left)))
        if request.constraint is not None:
            wanted = worked_out(request.constraint).example
            text = text if wanted is None else wanted
        if isinstance(prompt, Conversation):
            text = self._marked_up(text, prompt, request, script)
        answer = _tokens(text, script.token_bytes)
        return [_Choice(first + i, i, answer, request, script, limit, self._parser(prompt)) for i in range(request.n)]

    def _parser(self, prompt: Prompt) -> OutputParser | None:
        return self._parsers.parser(prompt, thinking=False) if isinstance(prompt, Conversation) else None

    def _marked_up(self, text: str, prompt: Conversation, request: GenerationRequest, script: Script) -> str:
        """Returns the text with the reasoning and the calls that are wanted."""
        if request.must_call:
            most = (script.calls or 2) if request.parallel_calls else 1
            return _calls(prompt.tools * (script.calls or 1), most)
        thinks = json.loads(prompt.variables).get("enable_thinking") is not False
        reasoning = f"<think>\n{text}\n</think>\n\n" if script.think and thinks else ""
        return reasoning + text + (_calls(prompt.tools * script.calls, script.calls) if script.calls else "")

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
    """Returns the length of a prompt by the rule of this engine."""
    return len(prompt_ids(prompt))


def prompt_ids(prompt: Prompt) -> list[int]:
    """Returns the tokens of a prompt; those that a message takes beside its words are 0."""
    match prompt:
        case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
            return list(ids)
        case TextPrompt(text) | Conversation(rendered=str(text)):
            return word_ids(text)
        case Conversation():
            return [id for text in _texts(prompt) for id in [0] * _MESSAGE_TOKENS + word_ids(text)]


def _texts(conversation: Conversation) -> list[str]:
    tools = [f"{tool.name} {tool.description or ''} {_written(tool)}" for tool in conversation.tools]
    return [message.content for message in conversation.messages] + tools


def _with_cut_prompts(request: GenerationRequest) -> GenerationRequest:
    return replace(request, prompts=tuple(_cut(prompt, request) for prompt in request.prompts))


def _cut(prompt: Prompt, request: GenerationRequest) -> Prompt:
    """Returns the prompt as short as the request wants it, a conversation as its tokens."""
    if request.truncation is None:
        return prompt
    limit = request.sampling.max_tokens
    tokens = request.truncation.tokens
    if tokens is None:
        tokens = CONTEXT_LENGTH - (1 if limit is None else limit)
    ids = prompt_ids(prompt)
    if not 0 < tokens < min(len(ids), CONTEXT_LENGTH + 1):
        return prompt
    kept = slice(tokens) if request.truncation.side == "right" else slice(-tokens, None)
    match prompt:
        case TextPrompt(text):
            return TextPrompt("".join(words(text)[kept]))
        case TokenPrompt():
            return TokenPrompt(tuple(ids[kept]))
        case Conversation():
            return replace(prompt, rendered=tuple(ids[kept]))


def _calls(tools: Sequence[Tool], most: int) -> str:
    """Returns one call of each of the first tools, as hermes3 has them."""
    return "\n".join(
        f'<tool_call>\n{{"name": {json.dumps(tool.name)}, "arguments": {_arguments(tool)}}}\n</tool_call>'
        for tool in tools[:most]
    )


def _calling(answer: Sequence[bytes]) -> bool:
    return b"<tool_call>" in b"".join(answer)


def _arguments(tool: Tool) -> str:
    try:
        return worked_out(JsonSchema(_parameters(tool))).example or "{}"
    except ConstraintError:  # a tool that nobody forces may have any parameters
        return "{}"


def _parameters(tool: Tool) -> Mapping[str, Any]:
    return NO_ARGUMENTS if tool.parameters is None else tool.parameters


def _written(tool: Tool) -> str:
    return "" if tool.parameters is None else json.dumps(tool.parameters)


def _unenforced_arguments(request: GenerationRequest) -> tuple[tuple[int, Path], ...]:
    """Returns what can't be enforced of the arguments of the tools that must be called: the tool's number and the
    keyword's path. Raises ConstraintError for tools that can't be called."""
    tools = [tool for prompt in request.prompts if isinstance(prompt, Conversation) for tool in prompt.tools]
    found: list[tuple[int, Path]] = []
    for index, tool in enumerate(tools if request.must_call else ()):
        try:
            lowered = worked_out(JsonSchema(_parameters(tool), tool.strict)).lowered
            require_object(_parameters(tool))
        except ConstraintError as error:
            error.tool = index
            raise
        found += [(index, path) for path in lowered.unenforced]
    return tuple(found)


def _tokens(text: str, token_bytes: int) -> list[bytes]:
    if token_bytes == 0:
        return [word.encode() for word in words(text)]
    data = text.encode()
    return [data[start : start + token_bytes] for start in range(0, len(data), token_bytes)]


def _logprob(token: bytes) -> float:
    """Returns the same for the same token everywhere; the end of the turn is certain."""
    return -(zlib.crc32(token) % 1024) / 64


def _likeliest(token: bytes, count: int) -> tuple[TopToken, ...]:
    """Returns the token and, less likely each, its place's number among the likeliest."""
    chosen = TopToken(token.decode(errors="replace"), token, _logprob(token), chosen=True)
    left = 1 - math.exp(chosen.logprob)
    likely = min(chosen.logprob, math.log(left) if left else _LEAST)
    # Together less than what the chosen one leaves: each is at most a third as likely as the one before.
    others = (
        TopToken(f" #{place}", f" #{place}".encode(), max(likely - place, _LEAST)) for place in range(2, count + 1)
    )
    return (chosen, *others) if count else ()


def _shown(token: bytes, request: GenerationRequest) -> tuple[TopToken, ...]:
    if not request.logprob_token_ids:
        return _likeliest(token, request.top_logprobs)
    chosen = TopToken(token.decode(errors="replace"), token, _logprob(token), chosen=True)
    others = (word_of(id).encode() for id in request.logprob_token_ids if id != word_id(token))
    return (chosen, *(TopToken(word.decode(), word, _logprob(word)) for word in others))


def _prompt_logprobs(choice: int, request: GenerationRequest, count: int) -> PromptLogprobs:
    places: list[tuple[PromptToken, ...]] = []
    for id in prompt_ids(request.prompts[choice // request.n]):
        word = word_of(id)
        likeliest = enumerate(_likeliest(word.encode(), count), 1)
        found = [
            PromptToken((id + rank - 1) % VOCABULARY_SIZE, each.text, each.logprob, rank) for rank, each in likeliest
        ]
        places.append(tuple(found) or (PromptToken(id, word, _logprob(word.encode()), 1),))
    return PromptLogprobs(choice, (None, *places[1:]))


def _echo(choice: int, request: GenerationRequest) -> PromptText:
    prompt = request.prompts[choice // request.n]
    text = "" if isinstance(prompt, Conversation) else _to_be_answered(prompt)
    if not request.logprobs:
        return PromptText(choice, text)
    tokens = [
        TokenLogprob(word, word.encode(), _logprob(word.encode()), _likeliest(word.encode(), request.top_logprobs))
        for word in words(text)
    ]
    first = [TokenLogprob(token.text, token.bytes, None) for token in tokens[:1]]
    return PromptText(choice, text, (*first, *tokens[1:]))


def _to_be_answered(prompt: Prompt) -> str:
    match prompt:
        case TextPrompt(text) | Conversation(rendered=str(text)):
            return text
        case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
            return " ".join(map(str, ids))
        case Conversation():
            results = list(takewhile(lambda message: message.role == "tool", reversed(prompt.messages)))
            if results:
                return "\n".join(message.content for message in reversed(results))
            return next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")
