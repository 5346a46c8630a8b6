"""The output of one choice: its tokens become segments."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from specvino.engine.output.choice_text import ChoiceText, Top
from specvino.engine.output.logprobs import LogprobAttribution
from specvino.engine.output_parsers import (
    AnswerText,
    CallArguments,
    CallEnd,
    CallStart,
    OutputParser,
    Piece,
    ReasoningText,
)
from specvino.engine.segments import (
    Finish,
    FinishReason,
    ReasoningDelta,
    Segment,
    TextDelta,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)


class ChoiceOutput:
    """Turns a choice's tokens into segments. `parser` parses tool calls and reasoning; without it, everything is text.
    Without `parallel_calls` the choice ends after the first call.

    A choice that `must_call` ends before it repeats a call. Its finish reason is `tool_calls` if all calls that were
    sent are complete, so that clients run them, even if the token limit has cut off another call of which nothing was
    sent. A choice ends with its Finish; nothing is pushed afterwards.

    With a `thinking_budget` (tokens) a choice may become `overspent`: its text ends within the reasoning, or is cut
    there, and the tokens that close the reasoning must follow. `thinking` means that the prompt has started the
    reasoning. The start tag doesn't count.
    """

    def __init__(
        self,
        index: int,
        text: ChoiceText,
        parser: OutputParser | None = None,
        *,
        must_call: bool = False,
        parallel_calls: bool = True,
        thinking_budget: int | None = None,
        thinking: bool = False,
    ) -> None:
        self.index = index
        self.reasoning_tokens = 0
        self._text = text
        self._parser = parser
        self._forced = must_call
        self._parallel = parallel_calls
        self._repeats = RepeatedCalls()
        self._logprobs = LogprobAttribution()
        self._calls = 0
        self._complete: list[bool] = []  # for each call that was sent
        self._called = False  # as many calls as allowed
        self._budget = thinking_budget
        self._thinking = False
        self._begun = thinking  # otherwise the next tag starts it
        self.overspent = thinking and thinking_budget == 0

    @property
    def tokens(self) -> int:
        """The number of tokens that were read, up to and including the one that ended the choice."""
        return self._text.tokens

    def push(
        self,
        token_ids: Sequence[int],
        logprobs: Sequence[float] | None,
        finish: FinishReason | None,
        most_likely: Sequence[Top] = (),
    ) -> Iterable[Segment]:
        """Returns the segments of further tokens; iterate over them before the next push. `finish` is the reason if
        these are the last tokens; `logprobs` and `most_likely` are as in `ChoiceText`.
        """
        if self._parser is None:
            return self._plain(token_ids, logprobs, finish, most_likely)
        return _joined(self._parsed(self._parser, token_ids, logprobs, finish, most_likely))

    def _plain(
        self,
        token_ids: Sequence[int],
        logprobs: Sequence[float] | None,
        finish: FinishReason | None,
        most_likely: Sequence[Top],
    ) -> list[Segment]:
        segments: list[Segment] = []
        text = self._text.push(token_ids, logprobs, most_likely)
        if finish is not None and not self._text.stopped:
            text += self._text.finish()
        if text:
            segments.append(TextDelta(self.index, text, self._text.take_logprobs()))
        reason = "stop" if self._text.stopped else finish
        if reason is not None:
            segments.append(Finish(self.index, reason, self._text.rest_logprobs(), self._text.stopped_by))
        return segments

    def _parsed(
        self,
        parser: OutputParser,
        token_ids: Sequence[int],
        logprobs: Sequence[float] | None,
        finish: FinishReason | None,
        most_likely: Sequence[Top],
    ) -> Iterator[Segment]:
        """Yields the segments token by token, to count reasoning tokens."""
        for index, token_id in enumerate(token_ids):
            text = self._text.push([token_id], logprobs and [logprobs[index]], most_likely[index : index + 1])
            self._logprobs.add(self._text.take_logprobs())
            if self._text.stopped:  # a truncated token ends this text
                self._logprobs.add(self._text.rest_logprobs())
            yield from self._segments(parser.push(text))
            self.reasoning_tokens += parser.thinking
            if self._text.stopped or self._called:
                break
            if self._spent(parser.thinking) and (finish is None or index + 1 < len(token_ids)):
                self.overspent = True
                return
        ended = self._text.stopped or self._called
        if not ended and finish is None:
            return
        if not ended:
            text = self._text.finish()
            self._logprobs.add(self._text.take_logprobs())
            yield from self._segments(parser.push(text))
        self._logprobs.add(self._text.rest_logprobs())
        reason = finish if finish is not None and not ended else "stop"
        if not self._called:
            pieces = parser.finish(cut=reason == "length" or self._forced)
            # A choice that must call has no text except calls, so the rest is markup.
            yield from self._segments(
                [piece for piece in pieces if not (self._forced and isinstance(piece, AnswerText))]
            )
        if (reason == "stop" or self._forced) and self._complete and all(self._complete):
            reason = "tool_calls"
        rest = (*self._repeats.rest(), *self._logprobs.rest())
        yield Finish(self.index, reason, rest, self._text.stopped_by)

    def close_reasoning(self, token_ids: Sequence[int], logprobs: Sequence[float] | None) -> Iterable[Segment]:
        """Yields the segments of the tokens that close the reasoning of an overspent choice. The choice then continues,
        without a budget for more reasoning.
        """
        self._budget, self.overspent = None, False
        yield from self.push(token_ids, logprobs, None)
        self._budget, self._thinking, self._begun = 0, False, False

    def _spent(self, thinking: bool) -> bool:
        """Counts a token after which the choice is `thinking` or not; returns whether the budget is used up."""
        if self._budget is None:
            return False
        if thinking:
            self._budget -= self._begun
            self._begun = True
        elif self._thinking:
            self._begun = False
        self._thinking = thinking
        return thinking and self._budget <= 0

    def _segments(self, pieces: Sequence[Piece]) -> Iterator[Segment]:
        segments = self._made_of(pieces)
        for segment in self._repeats.push(segments) if self._forced else segments:
            if isinstance(segment, ToolCallEnd):
                self._complete.append(segment.complete)
            yield segment
        self._called |= self._repeats.is_repeated

    def _made_of(self, pieces: Sequence[Piece]) -> Iterator[Segment]:
        for piece in pieces:
            if self._called:
                return
            match piece:
                case AnswerText(text):
                    yield TextDelta(self.index, text, self._logprobs.of(text))
                case ReasoningText(text):
                    yield ReasoningDelta(self.index, text, self._logprobs.of(text))
                case CallStart(name):
                    self._called = bool(self._calls) and not self._parallel
                    if self._called:
                        return
                    self._calls += 1
                    yield ToolCallStart(self.index, self._calls - 1, name, self._logprobs.as_written())
                case CallArguments(text):
                    yield ToolCallArguments(self.index, self._calls - 1, text, self._logprobs.as_written())
                case CallEnd(complete):
                    self._called = complete and not self._parallel
                    yield ToolCallEnd(self.index, self._calls - 1, complete)


def _joined(segments: Iterator[Segment]) -> Iterator[Segment]:
    """Joins adjacent segments of the same kind, so that text that arrives together is sent together."""
    last: Segment | None = None
    for segment in segments:
        if isinstance(last, TextDelta | ReasoningDelta | ToolCallArguments) and isinstance(segment, type(last)):
            last = replace(last, text=last.text + segment.text, logprobs=last.logprobs + segment.logprobs)
            continue
        if last is not None:
            yield last
        last = segment
    if last is not None:
        yield last


class RepeatedCalls:
    """Passes on one choice's segments, but holds back a call as long as it may repeat an earlier one.

    A model that wasn't trained on tool calls, constrained by a grammar that always allows another call, repeats itself
    until the token limit. So an answer that must call ends at the first call that equals an earlier one: the same
    function with the same arguments. The texts are compared, since the grammar fixes white space and the order of
    members. `is_repeated` means that a call was repeated; no further segments are passed on.
    """

    def __init__(self) -> None:
        self.is_repeated = False
        self._made: set[tuple[str, str]] = set()  # names with the arguments' texts
        self._name = self._arguments = ""  # of the current call
        self._held: list[Segment] = []

    def push(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        """Yields the segments that are no longer held back."""
        for segment in segments:
            self._held.append(segment)
            self._follow(segment)
            if self.is_repeated:
                return
            if not self._may_repeat(segment):
                yield from self._released()

    def rest(self) -> Sequence[TokenLogprob]:
        """Returns the tokens of the segments that are still held back at the end, and never sent; they have no text."""
        return [replace(token, text="") for segment in self._released() for token in getattr(segment, "logprobs", ())]

    def _follow(self, segment: Segment) -> None:
        match segment:
            case ToolCallStart(name=name):
                self._name, self._arguments = name, ""
            case ToolCallArguments(text=text):
                self._arguments += text
            case ToolCallEnd(complete=True):
                call = (self._name, self._arguments)
                self.is_repeated = call in self._made
                self._made.add(call)

    def _may_repeat(self, segment: Segment) -> bool:
        """Returns whether the current call is so far a prefix of an earlier one, even if it is incomplete."""
        match segment:
            case ToolCallStart() | ToolCallArguments() | ToolCallEnd(complete=False):
                return any(
                    name == self._name and arguments.startswith(self._arguments) for name, arguments in self._made
                )
        return False

    def _released(self) -> list[Segment]:
        held, self._held = self._held, []
        return held
