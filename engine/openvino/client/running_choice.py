"""One choice of an answer in the server: outputs of a worker become segments."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import msgspec

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.client.admission import AdmittedPrompt
from specvino.engine.openvino.messages.worker import Generate, Output, TopTokens
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import DetokenizerFactory
from specvino.engine.output.echoed_prompt import EchoedPrompt
from specvino.engine.output.tokens import TokenNames
from specvino.engine.output_parsers.selection import SelectedParsers
from specvino.engine.request import Conversation, GenerationRequest
from specvino.engine.segments import PromptLogprobs, PromptText, PromptToken, Segment, TokenIds, TokenLogprob


@dataclass(slots=True)
class BudgetedChoice:
    """A choice with a limit of its reasoning: its current Generate message, and the tokens since. GenAI 2026.4.1 has no
    limit for reasoning. So when the budget is used up, the choice is sent to the worker again, with the tokens so far
    and the end of the reasoning in its prompt; most of it is in the prefix cache. Penalties count these tokens as
    prompt, and random draws restart from the seed. `closing` are the tokens that end the reasoning, and `lowered`
    constrains the rest.
    """

    generate: Generate
    closing: Sequence[int]
    lowered: LoweredConstraint | None
    token_ids: list[int] = field(default_factory=list)
    _before: int = 0  # tokens of the choice before `generate`

    def close(self, id: int, read: int) -> Generate | None:
        """Returns the message that requests the answer under a new id, after `read` tokens of the choice. None if the
        token limit leaves no room for an answer.
        """
        generated = [*self.token_ids[: read - self._before], *self.closing]
        left = self.generate.max_new_tokens - len(generated)
        if left < 1:
            return None
        sampling = self.generate.sampling
        self.generate = msgspec.structs.replace(
            self.generate,
            id=id,
            token_ids=self.generate.token_ids + array("q", generated).tobytes(),
            max_new_tokens=left,
            sampling=replace(sampling, min_tokens=max(0, sampling.min_tokens - len(generated))),
            lowered=self.lowered,
            prompt_logprobs=None if read else self.generate.prompt_logprobs,
        )
        self.token_ids = []
        self._before = read + len(self.closing)
        return self.generate


class ShownPrompt:
    """The echo of a prompt before its choices: its text (`echoed`), and the logprobs of its tokens (`ids`). The
    logprobs arrive with the first output of one of the choices; all choices return them. Without `scored` there are
    none, and the tokens of an echoed prompt have null.
    """

    def __init__(
        self,
        ids: Sequence[int],
        names: TokenNames,
        request: GenerationRequest,
        echoed: EchoedPrompt | None,
        *,
        scored: bool,
    ) -> None:
        self._ids = ids
        self._names = names
        self._top = request.top_logprobs
        self._most = request.prompt_logprobs if scored else None
        self._echoes_logprobs = request.echoes_logprobs
        self._scored = scored
        self._echoed = echoed
        self._positions: tuple[tuple[PromptToken, ...] | None, ...] | None = None
        self._tokens: tuple[TokenLogprob, ...] | None = None

    def is_complete(self, output: Output) -> bool:
        """Returns whether the echo is complete with this output of a choice."""
        return self._most is None or self._positions is not None or bool(output.prompt_ranks)

    def segments(self, choice: int, output: Output) -> Iterator[Segment]:
        """Yields the segments before a choice's text, from the choice's first output."""
        most_likely = output.prompt_top_logprobs or []
        if self._most is not None:
            if self._positions is None:
                ranked = self._ranked(output.prompt_logprobs or (), most_likely, output.prompt_ranks or ())
                self._positions = tuple(ranked)
            yield PromptLogprobs(choice, self._positions)
        if self._echoed is not None:
            logprobs = output.prompt_logprobs if self._scored else [None] * len(self._ids)
            if self._tokens is None and self._echoes_logprobs and logprobs:
                top = self._names.most_likely(self._ids, [tokens[: self._top] for tokens in most_likely])
                self._tokens = self._echoed.tokens(logprobs, top)
            yield PromptText(choice, self._echoed.text, self._tokens or ())

    def _ranked(
        self, logprobs: Sequence[float | None], most_likely: Sequence[TopTokens], ranks: Sequence[int]
    ) -> Iterator[tuple[PromptToken, ...] | None]:
        # If the reasoning has no budget, the tokens that end it are part of the prompt.
        for id, logprob, tokens, rank in zip(self._ids, logprobs, most_likely, ranks, strict=False):
            if logprob is None:
                yield None
                continue
            own = PromptToken(id, self._names.text(id), logprob, rank)
            others = (
                PromptToken(other, self._names.text(other), likely, other_rank)
                for other_rank, (other, likely) in enumerate(islice(tokens, self._most), 1)
                if other != id
            )
            yield (own, *others)


class RunningChoice:
    """A choice that is being generated. It begins with the echo of its `prompt`, and ends with its Finish. With
    `token_ids` it also yields its tokens. Later outputs contain tokens after a stop string, or after the only call.
    `budgeted` ends its reasoning; `names` names tokens that weren't sampled.
    """

    def __init__(
        self, output: ChoiceOutput, names: TokenNames, prompt: ShownPrompt | None = None, *, token_ids: bool = False
    ) -> None:
        self.output = output
        self.budgeted: BudgetedChoice | None = None
        self._names = names
        self._prompt = prompt
        self._token_ids = token_ids

    def push(self, output: Output) -> Iterable[Segment]:
        """Returns the segments of a worker's output."""
        if self.budgeted is not None:
            self.budgeted.token_ids += output.token_ids
        segments = self._segments(output)
        if self._prompt is None or not self._prompt.is_complete(output):
            return segments
        prompt = self._prompt.segments(self.output.index, output)
        self._prompt = None
        return (*prompt, *segments)

    def _segments(self, output: Output) -> Iterable[Segment]:
        read = self.output.tokens
        most_likely = self._names.most_likely(output.token_ids, output.top_logprobs)
        segments = self.output.push(output.token_ids, output.logprobs, output.finish, most_likely)
        if not self._token_ids:
            return segments
        segments = tuple(segments)
        ids = output.token_ids[: self.output.tokens - read]
        return (TokenIds(self.output.index, tuple(ids)), *segments) if ids else segments


@dataclass(slots=True)
class ChoiceFactory:
    """Creates the choices of requests with a model's detokenizer, token names and parsers."""

    detokenizer: DetokenizerFactory
    names: TokenNames
    parsers: SelectedParsers

    def choice(
        self, index: int, request: GenerationRequest, prompt: AdmittedPrompt, shown: ShownPrompt | None
    ) -> RunningChoice:
        """Returns the choice with this index; `shown` is the echo of its prompt."""
        parser = None
        continued = not isinstance(prompt.prompt, Conversation) or prompt.prompt.continue_final_message
        if isinstance(prompt.prompt, Conversation):
            parser = self.parsers.parser(prompt.prompt, thinking=prompt.thinking)
        special = not request.sampling.skip_special_tokens
        parsed = self.parsers.special_tokens if parser is not None else frozenset[str]()
        detokenizer = self.detokenizer(special=special, per_token=request.logprobs, shown=parsed, continued=continued)
        text = ChoiceText(detokenizer, request.sampling, logprobs=request.logprobs)
        output = ChoiceOutput(
            index,
            text,
            parser,
            must_call=request.must_call,
            parallel_calls=request.parallel_calls,
            thinking_budget=request.thinking_budget.tokens if request.thinking_budget else None,
            thinking=prompt.thinking,
        )
        return RunningChoice(output, self.names, shown, token_ids=request.token_ids)

    def shown_prompt(self, request: GenerationRequest, prompt: AdmittedPrompt, *, scored: bool) -> ShownPrompt | None:
        """Returns the echo for the choices of a prompt; with `scored` its logprobs follow."""
        if not request.echo and request.prompt_logprobs is None:
            return None
        ids = array("q", prompt.token_ids).tolist()
        echoed = None
        if request.echo:
            special = not request.sampling.skip_special_tokens
            echoed = EchoedPrompt(prompt.prompt, ids, self.detokenizer, special=special)
        return ShownPrompt(ids, self.names, request, echoed, scored=scored)
