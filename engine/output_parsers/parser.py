"""The parser of one output: it receives text as it is generated, and returns pieces."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from specvino.engine.output_parsers.call_format import CallFormat, Tool
from specvino.engine.output_parsers.call_reading import CallReader
from specvino.engine.output_parsers.formats import ReasoningFormat, ToolFormat, framing
from specvino.engine.output_parsers.pieces import AnswerText, CallArguments, Piece, ReasoningText
from specvino.engine.output_parsers.reasoning_tags import ReasoningTags
from specvino.engine.output_parsers.text_source import Ending, Step, TextSource

Parse = Callable[[TextSource], Step[None]]


class Stage:
    """One pass over the text. Its `AnswerText` is the next stage's input."""

    def __init__(self, parse: Parse) -> None:
        self._parse = parse
        self.start()

    def start(self) -> None:
        self.begun = False
        self.source = TextSource()
        self._steps = self._parse(self.source)

    def push(self, text: str) -> Iterator[Piece]:
        self.begun = True
        self.source.rest += text
        return self._run()

    def finish(self, ending: Ending) -> Iterator[Piece]:
        self.source.end(ending)
        return self._run()

    def _run(self) -> Iterator[Piece]:
        for piece in self._steps:
            if piece is None:
                return
            yield piece


class OutputParser:
    """Splits an output into pieces, regardless of the chunks in which it arrives. It never raises and never loses text:
    everything except well-formed calls of known tools is answer text, including markers. Text that could still become a
    marker or a call is held back; if the output ends before this is decided, it may be dropped as markup (see
    `finish`). White space that belongs to framing is dropped.
    """

    def __init__(self, stages: Sequence[Parse]) -> None:
        self._stages = [Stage(parse) for parse in stages]
        self._trimmer = WhitespaceTrimmer()

    @property
    def thinking(self) -> bool:
        """Returns whether the text so far ends within the reasoning, so that tokens count as reasoning."""
        return any(stage.source.thinking for stage in self._stages)

    def push(self, text: str) -> list[Piece]:
        """Returns the pieces that further text completes."""
        return self._pieces(self._through(0, text))

    def finish(self, cut: bool = False) -> list[Piece]:
        """Returns the pieces of the text that was held back; nothing is pushed afterwards.

        If the output was `cut` off, text that may be the beginning of markup is dropped. If the model ended it, only
        the beginning of a call is dropped, starting with a complete marker.
        """
        pieces = self._pieces(self._through(0, "", Ending.CUT if cut else Ending.DONE))
        return joined([*pieces, *self._trimmer.finish()])

    def _pieces(self, pieces: Iterable[Piece]) -> list[Piece]:
        return joined(kept for piece in pieces for kept in self._trimmer.push(piece))

    def _through(self, index: int, text: str, ending: Ending | None = None) -> Iterator[Piece]:
        if index == len(self._stages):
            if text:
                yield AnswerText(text)
            return
        stage = self._stages[index]
        for piece in stage.finish(ending) if ending is not None else stage.push(text):
            if isinstance(piece, AnswerText):
                yield from self._through(index + 1, piece.text)
            else:
                yield from self._interrupt(index + 1)
                yield piece
        if ending is not None:
            yield from self._through(index + 1, "", ending)

    def _interrupt(self, index: int) -> Iterator[Piece]:
        """Ends the text in a later stage: reasoning never occurs within a call, nor before text that is still held
        back.
        """
        if index < len(self._stages) and self._stages[index].begun:
            yield from self._through(index, "", Ending.INTERRUPTED)
            self._stages[index].start()


class WhitespaceTrimmer:
    """Drops white space that belongs to framing from the pieces of one output.

    Models write line breaks around calls and reasoning. White space is removed around reasoning and between calls; text
    before and after a call keeps its own.
    """

    def __init__(self) -> None:
        self._held = ""
        self._last: type[Piece] | None = None  # the kind of the last piece that passed

    def push(self, piece: Piece) -> Iterator[Piece]:
        match piece:
            case AnswerText(text):
                yield from self._text(text)
            case ReasoningText(text):
                yield from self._reasoning(text)
            case _:
                self._held = ""
                self._last = type(piece)
                yield piece

    def finish(self) -> Iterator[Piece]:
        """Yields the white space of an output that consists of nothing else, since it is the answer."""
        if self._held and self._last is None:
            yield AnswerText(self._held)

    def _text(self, text: str) -> Iterator[Piece]:
        if self._last is ReasoningText:
            self._held, text = "", text.lstrip()
        text = self._held + text
        if self._last is AnswerText or not text.isspace():
            self._held = ""
            if text:
                self._last = AnswerText
                yield AnswerText(text)
        else:
            self._held = text

    def _reasoning(self, text: str) -> Iterator[Piece]:
        text = self._held + text if self._last is ReasoningText else text.lstrip()
        free = text.rstrip()
        self._held = text[len(free) :]
        if free:
            self._last = ReasoningText
            yield ReasoningText(free)


def parser_for(
    tool: ToolFormat | None,
    reasoning: ReasoningFormat | None,
    tools: Sequence[Tool],
    prompt_ends_in_thinking: bool = False,
) -> OutputParser:
    """Returns a parser of one output. Without tools nothing is a call; without formats, which must be compatible,
    everything is text.
    """
    known = {function.name: function for function in tools} if tool is not None else {}
    inside = prompt_ends_in_thinking
    if framed := framing(tool, reasoning):
        return OutputParser([partial(framed.parse, tools=known, reasoning=reasoning is not None, inside=inside)])
    stages: list[Parse] = []
    if isinstance(reasoning, ReasoningTags):
        stages.append(partial(reasoning.parse, inside=inside))
    if known and isinstance(tool, CallFormat):
        stages.append(CallReader(tool, known).parse)
    return OutputParser(stages)


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns the pieces, with adjacent ones of the same kind joined."""
    out: list[Piece] = []
    for piece in pieces:
        if (
            out
            and isinstance(piece, AnswerText | ReasoningText | CallArguments)
            and isinstance(last := out[-1], type(piece))
        ):
            out[-1] = type(piece)(last.text + piece.text)
        else:
            out.append(piece)
    return out
