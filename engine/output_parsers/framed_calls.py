"""Calls that are messages among others: their format frames the whole output."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specvino.engine.grammar.structural_tags.builders import Grammar
from specvino.engine.output_parsers.message_framing import MessageFraming
from specvino.engine.output_parsers.tools import Tool


@dataclass(frozen=True)
class FramedCalls:
    """Describes calls in messages of a `framing`. `grammar` makes that of one call; `one_by_one` is as in CallFormat.
    There is no trigger, as a message may begin with anything."""

    framing: MessageFraming
    grammar: Callable[[Sequence[Tool]], Grammar]
    one_by_one: bool = False
    trigger: None = None

    @property
    def literals(self) -> Sequence[str]:
        """Returns the texts that the format consists of."""
        return self.framing.literals
