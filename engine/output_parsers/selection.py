"""The choice of the formats in which a model writes tool calls and reasoning: as its operator says, else as its chat
template shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.json_schema.types import admitted_types
from specvino.engine.output_parsers import (
    TOOL_PARSERS,
    OutputParser,
    check,
    closing_of_thinking,
    detect,
    ends_in_thinking,
    needed_special_tokens,
    parser_for,
)
from specvino.engine.protocol import Calling
from specvino.engine.request import Conversation

# What a call looks like that is forced from a model of which no format is known.
_FALLBACK = "hermes3"

# Variables of chat templates by which they are told how much to think.
_THINKING = ("enable_thinking", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class SelectedParsers:
    """Holds how a model writes calls and reasoning. `tool` and `reasoning` are names of parsers; `taught` says that the
    model knows the tool format."""

    tool: str | None = "hermes3"
    reasoning: str | None = "qwen3"
    taught: bool = True

    @property
    def calling(self) -> Calling | None:
        if self.tool is None:
            return None
        if not self.taught:
            return "forced"
        return "taught" if TOOL_PARSERS[self.tool].trigger is None else "strict"

    @property
    def special_tokens(self) -> frozenset[str]:
        """Returns the texts of control tokens without which the formats can't be read."""
        return needed_special_tokens(self.tool, self.reasoning)

    def thinking(self, ending: str) -> bool:
        """Tells whether an answer to a prompt with this ending begins with reasoning."""
        return ends_in_thinking(self.reasoning, ending)

    def closing(self, message: str = "") -> str | None:
        """Returns what ends the reasoning, behind a last message; None where nothing that is known does."""
        return closing_of_thinking(self.reasoning, message)

    def parser(self, conversation: Conversation, *, thinking: bool) -> OutputParser | None:
        """Returns a parser for one answer; None where everything is text."""
        tools = conversation.tools if self.tool is not None else ()
        if not tools and self.reasoning is None:
            return None
        return parser_for(self.tool, self.reasoning, tools, thinking)


AS_TAUGHT = SelectedParsers()


def select_parsers(template: str, tool: str | None, reasoning: str | None) -> SelectedParsers:
    """Returns the formats by the names that were asked for: `none` is none, None is what the chat template shows.

    Raises ValueError for an unknown name, and for two that don't go together.
    """
    shown_tool, shown_reasoning = detect(template)
    chosen_tool = _named(tool, shown_tool or _FALLBACK)
    chosen_reasoning = _named(reasoning, shown_reasoning)
    try:
        check(chosen_tool, chosen_reasoning)
    except ValueError:
        if reasoning is not None and tool is not None:
            raise
        # What was not asked for gives way.
        if reasoning is None:
            chosen_reasoning = None
        else:
            chosen_tool = None
        check(chosen_tool, chosen_reasoning)
    return SelectedParsers(chosen_tool, chosen_reasoning, taught=tool is not None or shown_tool is not None)


def thinking_variables(template: str) -> frozenset[str]:
    """Returns the variables about reasoning that the template heeds."""
    return frozenset(name for name in _THINKING if name in template)


def require_object(schema: Mapping[str, Any]) -> None:
    """Raises ConstraintError for a schema by which the arguments are anything else."""
    types = admitted_types(schema, schema)
    if types is not None and "object" not in types:
        raise ConstraintError("arguments are always an object", ("type",))


def _named(name: str | None, shown: str | None) -> str | None:
    if name is None:
        return shown
    return None if name == "none" else name
