"""The engine for one OpenVINO model: it starts the processes, watches them and ends them."""

import asyncio
import logging
import threading
import time
from array import array
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from specvino.engine.chat_template.messages import missing
from specvino.engine.errors import EngineBusy, EngineUnavailable, ModelLoadError, UnusableModel
from specvino.engine.models.conversions import settled
from specvino.engine.models.folder import require_draft
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.client.admission import Admission
from specvino.engine.openvino.client.grammars import GrammarClient
from specvino.engine.openvino.client.idling import Idling
from specvino.engine.openvino.client.images import ImageClient
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import needs, weights_of
from specvino.engine.openvino.client.memory_plan import fitting_cache
from specvino.engine.openvino.client.preprocess import PreprocessClient
from specvino.engine.openvino.client.running_choice import ChoiceFactory
from specvino.engine.openvino.client.suspects import Suspects
from specvino.engine.openvino.client.workers import FullLogits, Workers
from specvino.engine.openvino.generation import Generation
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.preprocess import Vocabulary
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED, LoadModel
from specvino.engine.output.detokenizer import DetokenizerFactory, byte_table_factory
from specvino.engine.output.tokens import TokenNames, pad_truncate
from specvino.engine.output_parsers.selection import SelectedParsers, select_parsers
from specvino.engine.progress import Report, say_nothing
from specvino.engine.prompt_checks import check_ids, numbered
from specvino.engine.protocol import EngineStats, Loading, ModelInfo, PaddingSide, State
from specvino.engine.request import Conversation, GenerationRequest, ReadImage
from specvino.engine.segments import Segment

if TYPE_CHECKING:
    from specvino.engine.models.cache import InUse

# `Retry-After` in seconds if too many requests wait.
_RETRY_AFTER = 5

log = logging.getLogger(__name__)

_DEFAULT_OPTIONS = PipelineOptions()


class OpenVINOEngine:
    """Implements `protocol.Engine`. At most `max_sequences` are generated at a time, the others wait; if `max_queue`
    requests wait, new ones are rejected. `cache_size` (GB) bounds the memory of running sequences; 0 lets it grow. With
    `cache_may_shrink` it is smaller if a file that isn't converted leaves less memory. `options` configure the
    pipeline. A worker with pending requests that neither answers nor computes for `stall_timeout` seconds is restarted,
    and so is a preprocess or image process that needs more than `preprocess_deadline` seconds for a conversation or an
    image. A constraint without a result after `grammar_deadline` seconds fails with EngineUnavailable, and one that
    takes `grammar_computing` seconds of CPU time is rejected. Speculative decoding takes its drafts from a
    `draft_model`, or looks them up in the prompt. `tool_parser` and `reasoning_parser` name formats or are `none`; by
    default the formats are derived from the chat template. `chat_template` replaces the model's own. `budget` is the
    memory for the processes of all models; `full_logits` says when the full-logits process runs. After `idle_unload`
    seconds without a request the processes that have the model end until the next one.
    """

    def __init__(
        self,
        source: ModelSource,
        *,
        max_sequences: int = 64,
        max_queue: int = 1000,
        cache_size: float = 0,
        cache_may_shrink: bool = False,
        options: PipelineOptions = _DEFAULT_OPTIONS,
        stall_timeout: float = 60.0,
        preprocess_deadline: float = 60.0,
        grammar_deadline: float = 60.0,
        grammar_computing: float = 5.0,
        draft_model: ModelSource | None = None,
        prompt_lookup: bool = False,
        tool_parser: str | None = None,
        reasoning_parser: str | None = None,
        chat_template: str | None = None,
        budget: MemoryBudget | None = None,
        full_logits: FullLogits = "on-demand",
        idle_unload: float | None = None,
    ) -> None:
        self._named_path = source.adapter or source.path  # as the operator named it
        self._model: ModelInfo | None = None
        self._loading: Loading | None = None
        self._in_cache: list[InUse] = []
        self._choices: ChoiceFactory  # set by start()
        # Set by assemble(), again when start() has found out in which form the model is loaded.
        self._sources: tuple[ModelSource, ModelSource | None]
        self._source: ModelSource
        self._preprocess: PreprocessClient
        self._grammars: GrammarClient
        self._admission: Admission
        self._load: LoadModel
        self._workers: Workers
        self._parser_names = (tool_parser, reasoning_parser)
        self._unfinished = 0  # requests
        self._suspects = Suspects()
        self._most_unfinished = max_sequences + max_queue
        self._images = ImageClient(preprocess_deadline)
        self._budget = budget or MemoryBudget()

        def assemble(source: ModelSource, draft_model: ModelSource | None, cache: float, *, converted: bool) -> None:
            self._sources = (source, draft_model)
            self._source = source
            self._preprocess = PreprocessClient(source, preprocess_deadline, chat_template)
            self._grammars = GrammarClient(str(source.path), grammar_deadline, grammar_computing)
            self._admission = Admission(source, self._preprocess, self._grammars)
            self._load = LoadModel(
                str(source.path),
                max_sequences,
                draft_path=str(draft_model.path) if draft_model else None,
                prompt_lookup=prompt_lookup,
                cache_size=cache,
                hidden_size=source.hidden_size,
                options=options if source.prefix_cache else replace(options, prefix_cache=False),
            )
            self._workers = Workers(
                self._load,
                needs(source, draft_model, converted=converted, options=options),
                vision=source.vision,
                stall_timeout=stall_timeout,
                on_cache=self._admission.bound,
                budget=self._budget,
                full_logits=full_logits,
            )

        self._assemble = assemble
        self._idling = Idling(
            self._named_path,
            idle_unload,
            load=lambda: self._workers.start(),
            unload=lambda: self._workers.close(),
            ready=lambda: self._workers.worker.state == "ready",
        )
        self._cache_may_shrink = cache_may_shrink
        assemble(source, draft_model, cache_size, converted=True)
        # Before any engine starts, so that none is promised what another one needs.
        self._budget.add(lambda: self._workers.size, lambda: self._workers.worker.pid)
        if self._budget.of_machine:
            self._budget.add(lambda: self._workers.needs.preprocess, lambda: self._preprocess.process.pid)

    @property
    def model(self) -> ModelInfo:
        if self._model is None:
            self._workers.worker.check_ready()
            raise EngineUnavailable("The model is loading.", retry_after=1)
        return self._model

    @property
    def lacks_memory(self) -> tuple[str, ...]:
        return self._workers.lacks_memory

    @property
    def generated_tokens(self) -> int:
        return self._workers.generated_tokens

    @property
    def cache_usage(self) -> float:
        """Returns how much of a worker's memory for running sequences is in use, in percent."""
        return self._workers.cache_usage

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the ids of the child processes; None for one that is being restarted, or wasn't needed yet."""
        return {
            **self._workers.pids,
            "preprocess": self._preprocess.process.pid,
            "template": self._preprocess.template_pid,
            **self._images.pids,
            **self._grammars.pids,
        }

    async def start(self, report: Report = say_nothing) -> None:
        await self._settle(report)
        if not self._source.prefix_cache:
            log.warning("%s: the prefix cache is off, as it changes this model's answers", self._named_path)
        for line in self._workers.plan():
            log.info("%s: memory: %s", self._named_path, line)
        try:
            self._at(report, "loading the model", 0, 0)
            starts = (self._workers.start(), self._preprocess.process.start(), self._grammars.start())
            results = await asyncio.gather(*starts, return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
            vocabulary = self._preprocess.vocabulary
            detokenizer = await self._choose_detokenizer(vocabulary)
            parsers = self._admission.parsers = self._select_parsers(vocabulary)
            self._choices = ChoiceFactory(detokenizer, TokenNames(vocabulary.table, vocabulary.special), parsers)
            if vocabulary.refusal:
                log.warning("%s: its chat template can't be used: %s", self._named_path, vocabulary.refusal)
            for lack in _lacking(vocabulary):
                log.info("%s: its chat template: %s", self._named_path, lack)
        except ModelLoadError as error:
            await self.close()
            raise type(error)(f"{self._named_path}: {error}") from error
        except BaseException:
            await self.close()
            raise
        finally:
            self._loading = None
        self._model = ModelInfo(
            self._admission.context_length,
            vocabulary.size,
            self._source.defaults,
            self._load.drafting,
            self._source.vision,
            parsers.calling,
            vocabulary.capabilities.thinking if vocabulary.capabilities else frozenset(),
            # A prompt with images is a text, to which no tokens can be appended.
            parsers.closing() is not None and not self._source.vision,
            full_logits=self._workers.has_full_logits,
            template_lacks=_lacking(vocabulary),
            described=(*self._described(), *parsers.described()),
            weights=weights_of(self._source.path),
            drafted_tokens=LONGEST_DRAFTED if self._load.drafting == "draft_model" else None,
            tokenizer_tokens=vocabulary.limit,
        )
        self._idling.begin()

    async def loaded(self) -> None:
        self._check_ready()
        with self._idling.request():
            await self._idling.loaded()

    async def check(self, request: GenerationRequest) -> None:
        self._check_ready()
        self._check_room()
        await self._admission.admit(request)

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        self._check_ready()
        self._check_room()
        self._unfinished += 1
        try:
            with self._idling.request(), self._suspects.watched(request):
                prompts, constraints = await self._admission.admit(request)
                await self._idling.loaded()
                self._check_ready()  # a process may have died meanwhile
                async with self._workers.use(request, prompts, constraints) as assigned:
                    generation = Generation(
                        request,
                        assigned,
                        constraints,
                        workers=self._workers,
                        factory=self._choices,
                        context_length=self._admission.context_length,
                    )
                    async with aclosing(generation.segments()) as segments:
                        async for segment in segments:
                            yield segment
        finally:
            self._unfinished -= 1

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        parse_special: bool = True,
        max_length: int | None = None,
        pad: PaddingSide | None = None,
    ) -> list[list[int]]:
        tokenized = []
        for index, text in enumerate(texts):
            with numbered("Text", index, len(texts)):
                token_ids = await self._preprocess.tokenize(
                    text, add_special_tokens=add_special_tokens, parse_special=parse_special
                )
            ids = array("q", token_ids).tolist()
            tokenized.append(pad_truncate(ids, max_length, pad, self._preprocess.vocabulary.pad_id))
        return tokenized

    async def render(self, conversation: Conversation, most_characters: int) -> list[int]:
        return array("q", await self._preprocess.render(conversation, most_characters)).tolist()

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        check_ids(token_ids, self._preprocess.vocabulary.size)
        ids = array("q", token_ids).tobytes()
        return await self._preprocess.detokenize(ids, skip_special_tokens=skip_special_tokens)

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        check_ids(token_ids, self._preprocess.vocabulary.size)
        return await self._preprocess.token_bytes(array("q", token_ids).tobytes())

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        self._check_ready()
        return await self._images.decode(file, longest_side, most_pixels)

    def stats(self) -> EngineStats:
        return EngineStats(
            self._state(),
            self._workers.running,
            self._workers.waiting,
            self._workers.worker.restarts + self._preprocess.process.restarts + self._grammars.restarts,
            self.cache_usage / 100,
            self._admission.cache_tokens,
            self._workers.accepted_drafts if self._load.drafting else None,
            self._loading,
        )

    async def close(self) -> None:
        self._workers.fail(EngineUnavailable("The server is shutting down.", retry_after=1))
        await self._idling.close()
        await asyncio.gather(
            self._workers.close(),
            self._preprocess.close(),
            self._images.close(),
            self._grammars.close(),
        )
        while self._in_cache:
            self._in_cache.pop().release()

    async def _settle(self, report: Report) -> None:
        """Takes the conversions of GGUF files in their place, and keeps what is in the cache there."""
        ended = threading.Event()

        def at(stage: str, done: int, total: int) -> None:
            if ended.is_set():
                raise asyncio.CancelledError
            self._at(report, stage, done, total)

        def settle(source: ModelSource) -> ModelSource:
            loaded, in_cache = settled(source, at)
            if in_cache:
                self._in_cache.append(in_cache)
            return loaded

        source, draft = self._sources
        try:
            source = await asyncio.to_thread(settle, source)
            if draft:
                draft = await asyncio.to_thread(settle, draft)
                await asyncio.to_thread(require_draft, draft.path, source.path)
            self._assemble(source, draft, size := self._load.cache_size, converted=False)
            fitting = fitting_cache(self._budget, self._workers.needs, size, may_shrink=self._cache_may_shrink)
            if fitting != size:
                self._assemble(source, draft, fitting, converted=False)
        except BaseException:
            ended.set()  # ends the thread, and a conversion, if this task is cancelled
            await self.close()
            raise

    def _at(self, report: Report, stage: str, done: int, total: int) -> None:
        before = self._loading
        began = before.began if before and before.stage == stage else time.monotonic()
        self._loading = Loading(stage, began, done, total)
        report(stage, done, total)

    def _check_ready(self) -> None:
        if not self._idling.unloaded:
            self._workers.worker.check_ready()
        self._preprocess.process.check_ready()

    def _check_room(self) -> None:
        if self._unfinished >= self._most_unfinished:
            raise EngineBusy("The server is busy: too many requests are waiting.", retry_after=_RETRY_AFTER)

    def _state(self) -> State:
        unloaded = self._idling.unloaded
        states = {self._preprocess.process.state} | (set() if unloaded else {self._workers.worker.state})
        if self._grammars.failing:
            states.add("restarting")
        worst: tuple[State, ...] = ("closed", "loading", "restarting")
        otherwise: State = "idle" if unloaded else "stalled" if self._workers.silent else "ready"
        if self._model is None:
            otherwise = "loading"
        return next((state for state in worst if state in states), otherwise)

    def _select_parsers(self, vocabulary: Vocabulary) -> SelectedParsers:
        try:
            return select_parsers(vocabulary.formats, *self._parser_names, vocabulary.special.values())
        except ValueError as error:
            raise UnusableModel(str(error)) from None

    def _described(self) -> Iterator[str]:
        yield f"{'OpenVINO, from GGUF' if self._source.gguf else 'OpenVINO'} on {self._load.options.device}"
        yield f"context {self._admission.context_length:,} tokens"
        cache_tokens = self._admission.cache_tokens
        yield f"KV cache {self._load.cache_size:.3g} GB{f' ({cache_tokens:,} tokens)' if cache_tokens else ''}"

    async def _choose_detokenizer(self, vocabulary: Vocabulary) -> DetokenizerFactory:
        if vocabulary.table is not None:
            return byte_table_factory(vocabulary.table, vocabulary.special, drops_space=vocabulary.drops_space)
        from specvino.engine.openvino.client import detokenizers  # here, since it loads OpenVINO

        return await asyncio.to_thread(detokenizers.load, self._source.path, vocabulary.special)


def _lacking(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Returns the missing capabilities of the chat template, each with its workaround."""
    return missing(vocabulary.capabilities) if vocabulary.capabilities else ()
