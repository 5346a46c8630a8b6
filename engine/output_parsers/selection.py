"""Selection of a model's formats of tool calls and reasoning: the operator's, or those of its chat template."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import admitted_types
from specvino.engine.output_parsers import (
    REASONING_PARSERS,
    TOOL_PARSERS,
    OutputParser,
    ReasoningFormat,
    ToolFormat,
    closing_of_thinking,
    ends_in_thinking,
    go_together,
    needed_special_tokens,
    parser_for,
    reasoning_format,
    tool_format,
)
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.output_parsers.reasoning_tags import THINK
from specvino.engine.protocol import Calling
from specvino.engine.request import Conversation

# The format of forced calls if the model's own format is unknown.
_FALLBACK = TOOL_PARSERS["hermes3"]

# Variables of chat templates that control the reasoning.
_THINKING = ("enable_thinking", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class SelectedParsers:
    """The formats of a model's calls and reasoning. `taught` means that the model was trained on the tool format;
    `special_tokens` are the texts of the control tokens that the parsers need.
    """

    tool: ToolFormat | None = _FALLBACK
    reasoning: ReasoningFormat | None = THINK
    taught: bool = True
    special_tokens: frozenset[str] = frozenset()

    @property
    def calling(self) -> Calling | None:
        """Returns how the model calls tools (`ModelInfo.calling`); None if it can't."""
        if self.tool is None:
            return None
        if not self.taught:
            return "forced"
        return "taught" if self.tool.trigger is None else "strict"

    def described(self) -> Iterator[str]:
        """Yields how the model writes calls and reasoning, in short phrases for people."""
        tool = _name(self.tool, TOOL_PARSERS)
        yield f"tool calls: {f'only if forced, as {tool}' if self.calling == 'forced' else tool}"
        yield f"reasoning: {_name(self.reasoning, REASONING_PARSERS)}"

    def thinking(self, ending: str) -> bool:
        """Returns whether an answer begins with reasoning, by the end of its prompt."""
        return ends_in_thinking(self.reasoning, ending)

    def closing(self, message: str = "") -> str | None:
        """Returns the text that ends the reasoning, after a last message; None if no such text is known."""
        return closing_of_thinking(self.reasoning, message)

    def parser(self, conversation: Conversation, *, thinking: bool) -> OutputParser | None:
        """Returns a parser of one answer; None if everything is text."""
        tools = conversation.tools if self.tool is not None else ()
        if not tools and self.reasoning is None:
            return None
        return parser_for(self.tool, self.reasoning, tools, thinking)


def _name(chosen: object, named: Mapping[str, object]) -> str:
    """Returns the name of a format; those of most chat templates have none."""
    if chosen is None:
        return "none"
    return next((name for name, format in named.items() if format == chosen), "as in the chat template")


# The formats of the scripted engine, which has no chat template.
TAUGHT = ShownFormats("hermes3", "qwen3")

AS_TAUGHT = SelectedParsers()


def select_parsers(
    shown: ShownFormats, tool: str | None, reasoning: str | None, special: Collection[str] = ()
) -> SelectedParsers:
    """Returns the formats with these names; `none` is no format, None the chat template's format. `special` are the
    texts of the vocabulary's special tokens. Raises ValueError for an unknown name, and for two incompatible formats.
    """
    shown_tool = tool_format(shown.tool) if isinstance(shown.tool, str) else shown.tool
    shown_reasoning = reasoning_format(shown.reasoning) if isinstance(shown.reasoning, str) else shown.reasoning
    chosen_tool = shown_tool or _FALLBACK if tool is None else None if tool == "none" else tool_format(tool)
    chosen_reasoning = shown_reasoning
    if reasoning is not None:
        chosen_reasoning = None if reasoning == "none" else reasoning_format(reasoning)
    if not go_together(chosen_tool, chosen_reasoning):
        if reasoning is not None and tool is not None:
            raise ValueError(f"tool format {tool!r} and reasoning format {reasoning!r} can't be combined")
        # The format that wasn't requested is dropped.
        if reasoning is None:
            chosen_reasoning = None
        else:
            chosen_tool = None
    taught = tool is not None or shown_tool is not None
    special_tokens = needed_special_tokens(chosen_tool, chosen_reasoning, special)
    return SelectedParsers(chosen_tool, chosen_reasoning, taught, special_tokens)


def thinking_variables(template: str) -> frozenset[str]:
    """Returns the variables for reasoning in a template's text."""
    return frozenset(name for name in _THINKING if name in template)


def require_object(schema: Mapping[str, Any]) -> None:
    """Raises ConstraintError for a schema of arguments that admits no object."""
    types = admitted_types(schema, schema)
    if types is not None and "object" not in types:
        raise ConstraintError("arguments are always an object", ("type",))
