"""Reasoning between two tags, before the answer: qwen3, gemma4, lfm2 and minicpm5.

Reasoning that is cut off is still reasoning. A call within it is part of it.
"""

from dataclasses import dataclass

from specvino.engine.grammar import ANY_TEXT, TagFormat, regex, sequence, tag
from specvino.engine.output_parsers.pieces import ReasoningText
from specvino.engine.output_parsers.text_source import Step, TextSource


@dataclass(frozen=True)
class ReasoningTags:
    """A format of reasoning between two tags. `title` is a line that may follow the start tag and isn't reasoning;
    `around` is the white space before and after the end tag.

    With `anywhere` the start tag is recognized anywhere in the output, since it is a control token that doesn't occur
    in prose. Otherwise only at the beginning: an answer may contain `<think>` in an explanation.
    """

    start: str
    end: str
    title: str = ""
    anywhere: bool = False
    around: tuple[str, str] = ("", "")

    def parse(self, source: TextSource, inside: bool) -> Step[None]:
        """Yields the pieces of an output. `inside` means that the prompt ended with the start tag, which models may
        repeat. An output without reasoning may begin with just the end tag.
        """
        yield from source.blank()
        tag = yield from source.one_of((self.start, self.end))
        if tag == self.start or inside:
            source.at -= len(self.end) if tag == self.end else 0
            yield from self._reasoning(source)
        elif tag == self.end:
            source.drop()
        source.at = 0
        while (yield from source.pieces_until((self.start,) if self.anywhere else ())):
            source.at = len(self.start)
            yield from self._reasoning(source)

    def _reasoning(self, source: TextSource) -> Step[None]:
        source.drop()
        source.thinking = True
        if self.title and (yield from source.literal(self.title)):
            source.drop()
        source.at = 0
        if (yield from source.pieces_until((self.end,), ReasoningText)):
            source.at = len(self.end)
            source.thinking = False
            yield from source.blank()
            source.drop()

    def closing(self, message: str) -> str:
        """Returns the text that ends the reasoning, after a last message."""
        before, after = self.around
        return f"{message}{before}{self.end}{after}"

    def reasoning_grammar(self, inside: bool) -> TagFormat:
        """Returns the structural tag of the reasoning; `inside` means that the prompt has started it."""
        return sequence([tag("" if inside else self.start + self.title, ANY_TEXT, self.end), regex(r"\n{0,2}")])


THINK = ReasoningTags("<think>", "</think>", around=("\n", "\n\n"))
GEMMA4 = ReasoningTags("<|channel>", "<channel|>", title="thought\n", anywhere=True)
