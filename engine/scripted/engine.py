"""An engine without a model: an offline mock of the API, and faults on demand for tests.

It answers a conversation with its last user message, or with the results of calls at its end, so that agents terminate;
a text prompt with its text, and a token prompt with its ids as words. A token is a word (`mock_tokenizer.py`); every
message of a conversation takes 4 additional tokens, and the end of a turn is a token, as in a real model. With a
temperature above 0 the order of the words is drawn by the seed, so that choices differ and can be reproduced: the next
word is the likeliest, which is all that a small top_p, top_k 1 or min_p 1 leave. A bias of 100 makes the answer consist
of that word. The logprob of a token depends on the token only, and other changed scores (a smaller bias, allowed or bad
tokens) don't change the answer. Each
further text of a beam search (best_of above 1) begins a word later. With a constraint it answers with a short text that
the constraint allows, regardless of the prompt; a structural tag that allows any text, or contains a grammar, has no
effect. Forced calls use the first two tools, or as many as the script sets, with short valid arguments, which are
always the same for a tool. Tool calls and reasoning are in the formats hermes3 and qwen3: a message may contain them,
and they are parsed in the answer. A `Script` changes the behavior, for all prompts (passed to the constructor) or for
one prompt (in its text, see `script.py`).
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence

from specvino.engine.errors import EngineRestarted, EngineUnavailable, ImageError, PromptError
from specvino.engine.output.tokens import pad_truncate
from specvino.engine.output_parsers import OutputParser
from specvino.engine.output_parsers.selection import AS_TAUGHT, SelectedParsers
from specvino.engine.progress import Report, say_nothing
from specvino.engine.prompt_checks import check_ids, check_length, numbered, room
from specvino.engine.protocol import Drafting, EngineStats, ModelInfo, PaddingSide, State
from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    Prompt,
    ReadImage,
    TokenPrompt,
)
from specvino.engine.scripted.choice import Choice, echo, prompt_logprobs, split_tokens
from specvino.engine.scripted.constraints import unenforced_arguments, worked_out, written_calls
from specvino.engine.scripted.mock_tokenizer import PAD_ID, VOCABULARY_SIZE, word_ids, word_of
from specvino.engine.scripted.prompts import (
    CONTEXT_LENGTH,
    count_tokens,
    prompt_ids,
    prompt_texts,
    to_be_answered,
    with_cut_prompts,
)
from specvino.engine.scripted.script import AS_IT_COMES, Script, directed
from specvino.engine.segments import (
    Segment,
    Started,
    Usage,
)


class ScriptedEngine:
    """Implements `protocol.Engine`; see the module's docstring. `defaults` and `drafting` are properties of its model;
    drafting doesn't change the answers. `parsers` may be hermes3 and qwen3.
    """

    def __init__(
        self,
        script: Script = AS_IT_COMES,
        *,
        defaults: Mapping[str, float | int] | None = None,
        drafting: Drafting | None = None,
        parsers: SelectedParsers = AS_TAUGHT,
        context_length: int = CONTEXT_LENGTH,
    ) -> None:
        self._script = script
        self._defaults = defaults or {}
        self._drafting = drafting
        self._parsers = parsers
        self._context_length = context_length
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

    @property
    def lacks_memory(self) -> tuple[str, ...]:
        return ()

    async def start(self, report: Report = say_nothing) -> None:
        self._model = ModelInfo(
            self._context_length,
            VOCABULARY_SIZE,
            self._defaults,
            self._drafting,
            calling=self._parsers.calling,
            thinking_variables=frozenset(["enable_thinking"]),
            described=(
                "a script, without a model",
                f"context {self._context_length:,} tokens",
                *self._parsers.described(),
            ),
        )

    def stats(self) -> EngineStats:
        state: State = "closed" if self._closed.is_set() else "ready" if self._model else "loading"
        return EngineStats(state=state, running=self._running, waiting=0, restarts=self._restarts)

    async def close(self) -> None:
        self._closed.set()

    async def loaded(self) -> None:
        pass  # a script always is

    async def check(self, request: GenerationRequest) -> None:
        unenforced_arguments(request)
        self._admit_all(with_cut_prompts(request, self._context_length))

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        of_tools = unenforced_arguments(request)
        request = with_cut_prompts(request, self._context_length)
        choices = self._admit_all(request)
        prompt_tokens = sum(count_tokens(prompt) for prompt in request.prompts)
        self._running += len(choices)
        try:
            unenforced = worked_out(request.constraint).lowered.unenforced if request.constraint else ()
            ids = tuple(tuple(prompt_ids(prompt)) for prompt in request.prompts) if request.token_ids else ()
            yield Started(prompt_tokens, unenforced, of_tools, ids)
            if request.prompt_logprobs is not None:
                for index in range(len(choices)):
                    yield prompt_logprobs(index, request, request.prompt_logprobs)
            if request.echo:
                for index in range(len(choices)):
                    yield echo(index, request)
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
        check_length("The conversation", sum(map(len, prompt_texts(conversation))), most_characters)
        return prompt_ids(conversation)

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        return b"".join(await self.token_bytes(token_ids)).decode()

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        self._check_ready(self._script)
        check_ids(token_ids, VOCABULARY_SIZE)
        return [word_of(id).encode() for id in token_ids]

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        raise ImageError("This engine reads text only.")

    def _admit_all(self, request: GenerationRequest) -> list[Choice]:
        choices: list[Choice] = []
        for index, prompt in enumerate(request.prompts):
            with numbered("Prompt", index, len(request.prompts)):
                choices += self._admit(prompt, request, first=len(choices))
        return choices

    def _admit(self, prompt: Prompt, request: GenerationRequest, first: int) -> list[Choice]:
        match prompt:
            case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
                check_ids(ids, VOCABULARY_SIZE)
        text, script = directed(to_be_answered(prompt), self._script)
        self._check_ready(script)
        if script.refused:
            raise PromptError("The prompt was refused by its script.")
        limit = request.sampling.max_tokens
        left = room(count_tokens(prompt), limit, self._context_length)
        if limit is None:
            limit = min(left, int(self._defaults.get("max_tokens", left)))
        if request.constraint is not None:
            example = worked_out(request.constraint).example
            text = text if example is None else example
        if isinstance(prompt, Conversation):
            text = self._marked_up(text, prompt, request, script)
        answer = split_tokens(text, script.token_bytes)
        return [Choice(first + i, i, answer, request, script, limit, self._parser(prompt)) for i in range(request.n)]

    def _parser(self, prompt: Prompt) -> OutputParser | None:
        return self._parsers.parser(prompt, thinking=False) if isinstance(prompt, Conversation) else None

    def _marked_up(self, text: str, prompt: Conversation, request: GenerationRequest, script: Script) -> str:
        """Returns the text with the reasoning and the calls that the request and the script require."""
        if request.must_call:
            most = (script.calls or 2) if request.parallel_calls else 1
            return written_calls(prompt.tools * (script.calls or 1), most)
        thinks = json.loads(prompt.variables).get("enable_thinking") is not False
        reasoning = f"<think>\n{text}\n</think>\n\n" if script.think and thinks else ""
        return reasoning + text + (written_calls(prompt.tools * script.calls, script.calls) if script.calls else "")

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
