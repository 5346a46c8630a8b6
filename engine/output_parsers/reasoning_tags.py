"""Reasoning between two tags, before the answer: qwen3, gemma4, lfm2 and minicpm5.

Reasoning that is cut is reasoning all the same. A call within it is part of it.
"""

from dataclasses import dataclass

from specvino.engine.grammar import ANY_TEXT, TagFormat, regex, sequence, tag
from specvino.engine.output_parsers.pieces import ReasoningText
from specvino.engine.output_parsers.text_source import Step, TextSource


@dataclass(frozen=True)
class ReasoningTags:
    """Parses reasoning between two tags. `title` is a line that may follow the start tag and isn't reasoning; `around`
    is the white space before and behind the end tag.

    `anywhere` says that the start tag counts wherever it stands, since it is a control token that no prose spells.
    Otherwise only at the beginning of the output: an answer may well explain what `<think>` is.
    """

    start: str
    end: str
    title: str = ""
    anywhere: bool = False
    around: tuple[str, str] = ("", "")

    def parse(self, source: TextSource, inside: bool) -> Step[None]:
        """Makes pieces of an output. `inside` says that the prompt ended in the start tag; models may repeat it. One
        that doesn't think may say so by the end tag alone."""
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
        """Returns how the model ends its reasoning, behind a last message."""
        before, behind = self.around
        return f"{message}{before}{self.end}{behind}"

    def reasoning_grammar(self, inside: bool) -> TagFormat:
        return sequence([tag("" if inside else self.start + self.title, ANY_TEXT, self.end), regex(r"\n{0,2}")])


THINK = ReasoningTags("<think>", "</think>", around=("\n", "\n\n"))
GEMMA4 = ReasoningTags("<|channel>", "<channel|>", title="thought\n", anywhere=True)
