"""The oracle: a call that a template writes in the history is what a model says, so it has to be read as that call."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from support.formats import Outcome, outcome

from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.output_parsers import Piece
from specvino.engine.output_parsers.parser import joined
from specvino.engine.output_parsers.selection import SelectedParsers
from templates.history import History, NotWritten, Written
from templates.reading import forced_behind, formats_of, parser_behind
from templates.style import TOKENS, Call, Style, style_of
from templates.turns import CASES, TURNS, Turn, turn

# Says what comes out under a grammar if the model wants to say a text.
Says = Callable[[dict[str, Any], str], str]

# What is looked at. WRITTEN: the template writes the turn at all. READ: the parser gives the turn, however the text is
# split. FORCED: the grammar of forced calls lets the model say it. AGAIN: what was read is written as before.
WRITTEN, READ, FORCED, AGAIN = CHECKS = ("written", "read", "forced", "again")

# A longer text is split at so many places, besides into its characters.
_SPLITS = 100


class Oracle:
    """Judges one template. It is of use only where the template writes calls."""

    def __init__(self, text: str) -> None:
        self._template = Template(text, TOKENS)
        self._style: Style | None = style_of(self._template)

    @property
    def writes_calls(self) -> bool:
        return self._style is not None

    @cached_property
    def _formats(self) -> SelectedParsers:
        return formats_of(self._template)

    def failures(self, case: str, says: Says | None = None) -> dict[str, str]:
        """Returns the checks that a case fails, each with what was found instead. Without `says` no grammar is
        tried."""
        assert self._style is not None
        assert case in CASES
        try:
            history = History(self._template, self._style, thinking=case == "reasoning before")
            given = turn(case, *(("", "") if case in TURNS else history.around()))
            written = history.written(given)
            # A forced call has no text before it.
            forced = history.written(replace(given, content=""))
        except (NotWritten, TemplateRefusal) as error:
            return {WRITTEN: str(error)}
        wanted = replace(
            given,
            # What the template doesn't show can't be read.
            content=given.content if given.content in written.text else "",
            reasoning=given.reasoning if given.reasoning in written.text else "",
        )
        failures = {}
        read = self._read(written)
        if isinstance(read, str):
            failures[READ] = read
        elif _shown(read) != _shown(wanted):
            failures[READ] = f"{_shown(read)} in place of {_shown(wanted)}"
        if says is not None and (said := self._forced(forced, len(given.calls), says)):
            failures[FORCED] = said
        if not isinstance(read, str):
            put = replace(given, calls=read.calls)  # of text and reasoning the white space is lost
            if (again := history.whole(put)) != history.whole(given):
                failures[AGAIN] = again
        return failures

    def _read(self, written: Written) -> Turn | str:
        """Returns the turn that the parser reads, or what is wrong with that."""
        whole = self._pieces(written, [written.text])
        for parts in _partings(written.text):
            if self._pieces(written, parts) != whole:
                first, *others = parts
                return f"another outcome behind {first!r}, in {len(others) + 1} parts"
        try:
            return _turn(outcome(whole))
        except (AssertionError, ValueError, IndexError) as error:
            return f"pieces that make no sense: {error}"

    def _pieces(self, written: Written, parts: Iterable[str]) -> list[Piece]:
        parser = parser_behind(written.prompt, self._formats)
        pieces = [piece for part in parts for piece in parser.push(part)]
        return joined([*pieces, *parser.finish()])

    def _forced(self, written: Written, calls: int, says: Says) -> str:
        """Returns what the model says in place of the text; nothing if it can say it."""
        if not self._formats.taught:
            return "no format of calls is known"
        grammar = forced_behind(written.prompt, self._formats, calls > 1)
        said = ""
        # The white space around it is the template's, which a grammar may leave out.
        for wanted in dict.fromkeys([written.text, written.text.strip()]):
            said = says(grammar, wanted)
            if said == wanted:
                return ""
        return said


def _turn(read: Outcome) -> Turn:
    calls = [Call(call.name, call.arguments) for call in read.calls if call.complete]
    assert len(calls) == len(read.calls), "a call isn't complete"
    return Turn(calls, read.text.strip(), read.reasoning.strip())


def _shown(turn: Turn) -> str:
    """A text that tells 1 from 1.0 and from true."""
    calls = [(call.name, call.arguments) for call in turn.calls]
    return json.dumps([turn.content, turn.reasoning, calls], ensure_ascii=False, sort_keys=True)


def _partings(text: str) -> Iterator[list[str]]:
    yield list(text) or [""]
    step = max(1, len(text) // _SPLITS)
    for at in range(1, len(text), step):
        yield [text[:at], text[at:]]
