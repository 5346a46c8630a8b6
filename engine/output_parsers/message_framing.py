"""Formats whose outputs consist of messages with headers: gptoss and onyx.

Headers are framing and are dropped, except for one with an unknown tool, which becomes text along with its message.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specvino.engine.grammar import ANY_TEXT, TagFormat, tag
from specvino.engine.output_parsers.call_format import Tool, Tools
from specvino.engine.output_parsers.pieces import AnswerText, Piece, ReasoningText
from specvino.engine.output_parsers.text_source import Step, TextSource

LONGEST_HEADER = 512
RECIPIENT = "to="


@dataclass(frozen=True)
class Header:
    """The kind of a message. `recipient` is the tool that is called; `thinking` means that the message is reasoning."""

    thinking: bool = False
    recipient: str | None = None


class Joined:
    """The pieces of one kind, with a line break between different messages."""

    def __init__(self, kind: type[AnswerText] | type[ReasoningText]) -> None:
        self._kind = kind
        self._joint = self._next_joint = ""

    def next_message(self) -> None:
        self._joint = self._next_joint

    def __call__(self, text: str) -> Piece:
        joint, self._joint, self._next_joint = self._joint, "", "\n"
        return self._kind(joint + text)


@dataclass(frozen=True)
class MessageFraming:
    """A format of outputs that consist of messages. A header begins with one of `starts` and ends with `body`; a
    message ends with one of `ends` or before a start. The first header may lack its beginning if the prompt ends with
    it. `thinking` is the header of reasoning, `answer` that of the answer, and `after_thinking` the text between
    reasoning and the next header. `read` parses a header. `call` yields the pieces of the call in a message to a
    recipient; it returns False, with nothing dropped, if there is no call of a known tool. `further` are other texts
    that calls may contain.
    """

    starts: Sequence[str]
    body: str
    ends: Sequence[str]
    thinking: str
    answer: str
    after_thinking: str
    read: Callable[[str], Header]
    call: Callable[[TextSource, Tools, str], Step[bool]]
    further: Sequence[str] = ()

    @property
    def literals(self) -> Sequence[str]:
        """Returns the texts that frame messages."""
        return (*self.starts, self.body, *self.ends, *self.further)

    def parse(self, source: TextSource, tools: Tools, reasoning: bool, inside: bool) -> Step[None]:
        """Yields the pieces of an output. Without `reasoning`, reasoning is plain text. `inside` means that the prompt
        ended with its header.
        """
        text, reasoned = Joined(AnswerText), Joined(ReasoningText)
        first = (*self.starts, " " + RECIPIENT, RECIPIENT, self.body)
        thinking = inside or (yield from self._begin(source, tools, text, first))
        while True:
            source.thinking = thinking and reasoning
            joined = reasoned if source.thinking else text
            end = yield from source.pieces_until((*self.ends, *self.starts), joined)
            if end is None:
                return
            if end in self.ends:
                source.take(len(end))
            source.thinking = False
            text.next_message()
            reasoned.next_message()
            thinking = yield from self._begin(source, tools, text, self.starts)

    def _begin(self, source: TextSource, tools: Tools, text: Joined, starts: Sequence[str]) -> Step[bool]:
        """Reads a header, and the call if there is one. Returns whether the rest of the message is reasoning."""
        start = yield from source.one_of(starts)
        if start is None:
            source.at = 0
            return False
        source.marked = start in self.starts  # other texts may be prose
        if start != self.body and (yield from source.until(self.body, LONGEST_HEADER)) is None:
            if not source.cut:
                yield text(source.take(len(start)))
            return False
        written = source.take(source.at)
        header = self.read(written)
        if header.recipient is None:
            return header.thinking
        source.marked = True
        called = bool(tools) and (yield from self.call(source, tools, header.recipient))
        if not called and not source.cut:
            source.at = 0
            yield text(written)
        return False

    def reasoning_grammar(self, inside: bool) -> TagFormat:
        """Returns the structural tag of the reasoning; `inside` means that the prompt has started it."""
        return tag("" if inside else self.thinking, ANY_TEXT, self.after_thinking)


@dataclass(frozen=True)
class FramedCalls:
    """A format of calls that are messages of a `framing`. `grammar` makes the structural tag of one call; `one_by_one`
    is as in CallFormat. There is no trigger, since a message may begin with any header.
    """

    framing: MessageFraming
    grammar: Callable[[Sequence[Tool]], TagFormat]
    one_by_one: bool = False
    trigger: None = None

    @property
    def literals(self) -> Sequence[str]:
        """Returns the literal texts of the format."""
        return self.framing.literals
