"""A choice on its way: its tokens become segments."""

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
    """Turns a choice's tokens into segments. `parser` finds tool calls and reasoning; without one all is text. Without
    `parallel_calls` it ends behind the first call.

    One that `must_call` ends before it repeats a call. So that what it called is run, its reason is `tool_calls`
    wherever all calls that were shown are whole, though the limit may have cut another one, of which nothing was shown.
    A choice ends with its Finish; nothing is pushed after it.

    With a `thinking_budget` (tokens) it may be `overspent`: what was pushed ends within the reasoning, or is cut there,
    and next comes what closes it. `thinking` says that the prompt has begun the reasoning. The tag that begins it
    doesn't count.
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
        self._whole: list[bool] = []  # of each call that was shown
        self._called = False  # all that it may
        self._budget = thinking_budget
        self._thinking = False
        self._begun = thinking  # else the next tag begins it
        self.overspent = thinking and thinking_budget == 0

    @property
    def tokens(self) -> int:
        """Tells how many tokens were read, up to and including the one that ended the choice."""
        return self._text.tokens

    def push(
        self,
        token_ids: Sequence[int],
        logprobs: Sequence[float] | None,
        finish: FinishReason | None,
        likeliest: Sequence[Top] = (),
    ) -> Iterable[Segment]:
        """Returns the segments of further tokens, to be taken at once. `finish` is why no more tokens come, if so; the
        others are as in `ChoiceText`."""
        if self._parser is None:
            return self._plain(token_ids, logprobs, finish, likeliest)
        return _joined(self._parsed(self._parser, token_ids, logprobs, finish, likeliest))

    def _plain(
        self,
        token_ids: Sequence[int],
        logprobs: Sequence[float] | None,
        finish: FinishReason | None,
        likeliest: Sequence[Top],
    ) -> list[Segment]:
        segments: list[Segment] = []
        text = self._text.push(token_ids, logprobs, likeliest)
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
        likeliest: Sequence[Top],
    ) -> Iterator[Segment]:
        """Yields the segments token by token, so that each counts for what it was."""
        for place, token_id in enumerate(token_ids):
            text = self._text.push([token_id], logprobs and [logprobs[place]], likeliest[place : place + 1])
            self._logprobs.add(self._text.take_logprobs())
            if self._text.stopped:  # a token that was cut has the end of this text
                self._logprobs.add(self._text.rest_logprobs())
            yield from self._segments(parser.push(text))
            self.reasoning_tokens += parser.thinking
            if self._text.stopped or self._called:
                break
            if self._spent(parser.thinking) and (finish is None or place + 1 < len(token_ids)):
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
            # Who must call says nothing else: what is left over is markup.
            yield from self._segments(
                [piece for piece in pieces if not (self._forced and isinstance(piece, AnswerText))]
            )
        if (reason == "stop" or self._forced) and self._whole and all(self._whole):
            reason = "tool_calls"
        rest = (*self._repeats.rest(), *self._logprobs.rest())
        yield Finish(self.index, reason, rest, self._text.stopped_by)

    def close_reasoning(self, token_ids: Sequence[int], logprobs: Sequence[float] | None) -> Iterable[Segment]:
        """Yields the segments of what closes the reasoning of a choice that is overspent. Then it goes on, and has
        nothing left for more reasoning."""
        self._budget, self.overspent = None, False
        yield from self.push(token_ids, logprobs, None)
        self._budget, self._thinking, self._begun = 0, False, False

    def _spent(self, thinking: bool) -> bool:
        """Notes that a token was read, behind which the choice is `thinking`; tells whether it was the last one."""
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
                self._whole.append(segment.complete)
            yield segment
        self._called |= self._repeats.found

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
    """Makes neighbours of one kind one: what comes together is shown together."""
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
    """Passes one choice's segments on, but holds back a call as long as it may become an earlier one again.

    A model that was taught no calls, constrained by a grammar that lets another call follow each, repeats itself until
    its tokens are used up. So an answer that must call ends with the first call that is equal to an earlier one: the
    same function with the same arguments. They are compared as they are shown, since the grammar fixes white space and
    the order of members. `found` says that a call has become one, and nothing more is passed on.
    """

    def __init__(self) -> None:
        self.found = False
        self._made: set[tuple[str, str]] = set()  # names with the arguments' texts
        self._name = self._arguments = ""  # of the call that is under way
        self._held: list[Segment] = []

    def push(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        """Yields what of the segments is free to go, with what was held back before it."""
        for segment in segments:
            self._held.append(segment)
            self._follow(segment)
            if self.found:
                return
            if not self._may_repeat(segment):
                yield from self._released()

    def rest(self) -> Sequence[TokenLogprob]:
        """Returns the tokens of what is still held back at the end and so is never shown: they gave no text."""
        return [replace(token, text="") for segment in self._released() for token in getattr(segment, "logprobs", ())]

    def _follow(self, segment: Segment) -> None:
        match segment:
            case ToolCallStart(name=name):
                self._name, self._arguments = name, ""
            case ToolCallArguments(text=text):
                self._arguments += text
            case ToolCallEnd(complete=True):
                call = (self._name, self._arguments)
                self.found = call in self._made
                self._made.add(call)

    def _may_repeat(self, segment: Segment) -> bool:
        """Tells whether the call of this segment is so far the beginning of an earlier one, also if it breaks off."""
        match segment:
            case ToolCallStart() | ToolCallArguments() | ToolCallEnd(complete=False):
                return any(name == self._name and made.startswith(self._arguments) for name, made in self._made)
        return False

    def _released(self) -> list[Segment]:
        held, self._held = self._held, []
        return held
