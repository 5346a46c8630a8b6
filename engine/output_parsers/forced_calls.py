"""Grammars of calls: where the model has no choice but to call a tool, and where its own calls are held to schemas."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.engine.grammar.structural_tags.builders import NOTHING, Grammar, either, sequence, triggered
from specvino.engine.json_schema.errors import Path
from specvino.engine.json_schema.members import members
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.call_grammar import call_grammar
from specvino.engine.output_parsers.registry import ReasoningFormat, ToolFormat
from specvino.engine.output_parsers.tools import Tool


def forced_call_grammar(
    tool_format: ToolFormat,
    tools: Sequence[Tool],
    parallel: bool = True,
    reasoning: ReasoningFormat | None = None,
    prompt_ends_in_thinking: bool = False,
) -> dict[str, Any]:
    """Returns the structural tag of one or more calls of any of the tools; if not `parallel`, of exactly one.

    With a format of reasoning the model may think first; if the prompt ends in thinking, it has to stop that first.
    Arguments keep to the tools' schemas.
    """
    if isinstance(tool_format, CallFormat):
        grammar = call_grammar(tool_format, tools, parallel)
    else:
        grammar = tool_format.grammar(tools)
    if reasoning is not None:
        grammar = with_reasoning(reasoning, grammar, prompt_ends_in_thinking)
    return {"type": "structural_tag", "format": grammar}


def held_call_grammar(
    tool_format: ToolFormat,
    tools: Sequence[Tool],
    reasoning: ReasoningFormat | None = None,
    prompt_ends_in_thinking: bool = False,
) -> dict[str, Any]:
    """Returns the structural tag of any text, in which the calls that the model makes of itself keep to the tools'
    schemas. Reasoning may come before it, as in `forced_call_grammar`.

    The format has a trigger.
    """
    assert isinstance(tool_format, CallFormat)
    assert tool_format.trigger is not None
    forced = call_grammar(tool_format, tools, many=True)
    calls = [_from(tool_format.trigger, each) for each in forced.get("tags", [forced])]
    grammar = triggered(tool_format.trigger, calls)
    if reasoning is not None:
        grammar = with_reasoning(reasoning, grammar, prompt_ends_in_thinking)
    return {"type": "structural_tag", "format": grammar}


def _from(trigger: str, tag: Grammar) -> Grammar:
    """Returns the tag without what its begin has before the trigger."""
    before, _, _ = tag["begin"].partition(trigger)
    return {**tag, "begin": tag["begin"].removeprefix(before)}


def with_reasoning(reasoning: ReasoningFormat, grammar: Grammar, prompt_ends_in_thinking: bool) -> Grammar:
    """Returns the grammar with reasoning before it: that may come, and must end if the prompt has begun it."""
    thought = reasoning.reasoning_grammar(prompt_ends_in_thinking)
    return sequence([thought if prompt_ends_in_thinking else either([NOTHING, thought]), grammar])


def unenforceable_keywords(tool_format: ToolFormat, tool: Tool) -> Mapping[Path, str]:
    """Returns the keywords of the parameters to which no forced call of this format can keep, each with the reason."""
    if not tool_format.one_by_one:
        return {}
    return dict.fromkeys(members(tool.parameters or {}).beyond, "the model's format writes arguments one by one")
