"""The oracle: a call that a template writes in the history is a model's output, so it must be parsed as that call."""

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
from templates.reading import forced_after, formats_of, parser_after
from templates.style import TOKENS, Call, Style, style_of
from templates.turns import CASES, TURNS, Turn, turn

# Returns the output under a grammar of a model that would output a text.
Says = Callable[[dict[str, Any], str], str]

# The checks. WRITTEN: the template writes the turn. READ: the parser returns the turn, however the text is split.
# FORCED: the grammar of forced calls allows the text. AGAIN: the parsed turn is rendered as before.
WRITTEN, READ, FORCED, AGAIN = CHECKS = ("written", "read", "forced", "again")

# A longer text is split at this many indices, in addition to single characters.
_SPLITS = 100


class Oracle:
    """Checks one template, which must write calls."""

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
        """Returns the checks that a case fails, each with the actual result. Without `says` grammars aren't tried."""
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
            # Parts that the template doesn't show can't be parsed.
            content=given.content if given.content in written.text else "",
            reasoning=given.reasoning if given.reasoning in written.text else "",
        )
        failures = {}
        read = self._read(written)
        if isinstance(read, str):
            failures[READ] = read
        elif _shown(read) != _shown(wanted):
            failures[READ] = f"{_shown(read)} in place of {_shown(wanted)}"
        if says is not None and (output := self._forced(forced, len(given.calls), says)):
            failures[FORCED] = output
        if not isinstance(read, str):
            put = replace(given, calls=read.calls)  # text and reasoning have lost their white space
            if (again := history.full(put)) != history.full(given):
                failures[AGAIN] = again
        return failures

    def _read(self, written: Written) -> Turn | str:
        """Returns the parsed turn, or a text that says what is wrong with it."""
        pieces = self._pieces(written, [written.text])
        for parts in _partings(written.text):
            if self._pieces(written, parts) != pieces:
                first, *others = parts
                return f"another outcome after {first!r}, in {len(others) + 1} parts"
        try:
            return _turn(outcome(pieces))
        except (AssertionError, ValueError, IndexError) as error:
            return f"pieces that make no sense: {error}"

    def _pieces(self, written: Written, parts: Iterable[str]) -> list[Piece]:
        parser = parser_after(written.prompt, self._formats)
        pieces = [piece for part in parts for piece in parser.push(part)]
        return joined([*pieces, *parser.finish()])

    def _forced(self, written: Written, calls: int, says: Says) -> str:
        """Returns the output in place of the text; the empty text if the grammar allows it."""
        if not self._formats.taught:
            return "no format of calls is known"
        grammar = forced_after(written.prompt, self._formats, calls > 1)
        output = ""
        # White space around it is the template's, and grammars may omit it.
        for wanted in dict.fromkeys([written.text, written.text.strip()]):
            output = says(grammar, wanted)
            if output == wanted:
                return ""
        return output


def _turn(read: Outcome) -> Turn:
    calls = [Call(call.name, call.arguments) for call in read.calls if call.complete]
    assert len(calls) == len(read.calls), "a call isn't complete"
    return Turn(calls, read.text.strip(), read.reasoning.strip())


def _shown(turn: Turn) -> str:
    """Returns a text that distinguishes 1, 1.0 and true."""
    calls = [(call.name, call.arguments) for call in turn.calls]
    return json.dumps([turn.content, turn.reasoning, calls], ensure_ascii=False, sort_keys=True)


def _partings(text: str) -> Iterator[list[str]]:
    yield list(text) or [""]
    step = max(1, len(text) // _SPLITS)
    for at in range(1, len(text), step):
        yield [text[:at], text[at:]]
