"""Constraints of an answer: the structured output or the calls that the request wants, and reasoning before both."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import NO_ARGUMENTS, LoweredConstraint, Path, constant, either, json_schema, sequence
from specvino.engine.openvino.grammar_client import GrammarClient
from specvino.engine.output_parsers import (
    ToolFormat,
    forced_call_grammar,
    framing,
    held_call_grammar,
    unenforceable_keywords,
    with_reasoning,
)
from specvino.engine.output_parsers.selection import SelectedParsers, require_object
from specvino.engine.request import Constraint, Conversation, GenerationRequest, JsonSchema, Prompt, StructuralTag, Tool


@dataclass(frozen=True, slots=True)
class ResolvedConstraint:
    """Holds what constrains an answer. `lowered` is None for an answer that may be anything; `behind_reasoning` is the
    same for what comes where the reasoning was ended. The others are as in `Started`."""

    lowered: LoweredConstraint | None = None
    unenforced: tuple[Path, ...] = ()
    unenforced_arguments: tuple[tuple[int, Path], ...] = ()
    behind_reasoning: LoweredConstraint | None = None


async def resolve_constraint(
    grammars: GrammarClient, request: GenerationRequest, prompt: Prompt, parsers: SelectedParsers, *, thinking: bool
) -> ResolvedConstraint:
    """Returns what constrains the answer to a prompt; `thinking` says that the prompt has begun the reasoning.

    Raises ConstraintError and EngineUnavailable.
    """
    if not isinstance(prompt, Conversation):
        prompt = Conversation(())
    # Alone it tells best what is wrong with it.
    lowered = await grammars.check(request.constraint) if request.constraint else None
    if request.must_call:
        return await _calls(grammars, request, prompt, parsers, thinking)
    held = [index for index, tool in enumerate(prompt.tools) if tool.held]
    if request.constraint is None or lowered is None:
        return await _own_calls(grammars, prompt, parsers, thinking, held) if held else ResolvedConstraint()
    wider = await _allow_tools_and_reasoning(grammars, request.constraint, prompt, parsers, thinking)
    # A client's own structural tag says what a call looks like, whatever its tool's schema.
    free = held if isinstance(request.constraint, StructuralTag) else ()
    return ResolvedConstraint(wider or lowered, lowered.unenforced, tuple((index, ()) for index in free))


async def _calls(
    grammars: GrammarClient, request: GenerationRequest, prompt: Conversation, parsers: SelectedParsers, thinking: bool
) -> ResolvedConstraint:
    assert parsers.tool is not None
    unenforced = await _unenforced(grammars, prompt, parsers.tool)
    tag = forced_call_grammar(parsers.tool, prompt.tools, request.parallel_calls, parsers.reasoning, thinking)
    lowered = await _whole(grammars, tag)
    return ResolvedConstraint(lowered, unenforced_arguments=unenforced)


async def _own_calls(
    grammars: GrammarClient, prompt: Conversation, parsers: SelectedParsers, thinking: bool, held: Sequence[int]
) -> ResolvedConstraint:
    """Returns what holds the calls that the model makes of itself. Where it can't be, that is no reason to refuse the
    request: the parameters of the tools that shall be held are unenforced."""
    assert parsers.tool is not None
    try:
        unenforced = await _unenforced(grammars, prompt, parsers.tool)
        lowered = await _whole(grammars, held_call_grammar(parsers.tool, prompt.tools, parsers.reasoning, thinking))
    except ConstraintError as error:
        if any(tool.strict for tool in prompt.tools):
            error.tool = held[0] if error.tool is None else error.tool  # all together are too much
            raise
        return ResolvedConstraint(unenforced_arguments=tuple((index, ()) for index in held))
    return ResolvedConstraint(lowered, unenforced_arguments=tuple(each for each in unenforced if each[0] in held))


async def _unenforced(
    grammars: GrammarClient, prompt: Conversation, tool_format: ToolFormat
) -> tuple[tuple[int, Path], ...]:
    """Returns the places in the tools' parameters that can't be enforced. Raises ConstraintError."""
    unenforced = []
    for index, tool in enumerate(prompt.tools):
        found = dict.fromkeys(await _check(grammars, index, tool, strict=tool.strict))
        left = unenforceable_keywords(tool_format, tool)
        if tool.strict and left:
            path, reason = next(iter(left.items()))
            error = ConstraintError(reason, path, unsupported=True)
            error.tool = index
            raise error
        unenforced += [(index, path) for path in found | dict.fromkeys(left)]
    return tuple(unenforced)


async def _allow_tools_and_reasoning(
    grammars: GrammarClient,
    constraint: Constraint,
    prompt: Conversation,
    parsers: SelectedParsers,
    thinking: bool,
) -> LoweredConstraint | None:
    """Returns the constraint where the model may call tools instead, or begin with reasoning; None where there is
    neither."""
    format = _format(constraint)
    if format is None:
        return None
    wider = format
    framed = framing(parsers.tool if prompt.tools and parsers.reasoning is None else None, parsers.reasoning)
    # Who writes structural tags says in them what messages and calls look like.
    if isinstance(constraint, JsonSchema):
        if framed is not None:
            wider = sequence([constant(framed.answer), wider])
        if prompt.tools and parsers.tool is not None:
            for index, tool in enumerate(prompt.tools):
                await _check(grammars, index, tool, strict=False)
            # One call: tags of XGrammar 0.1.31 can't choose between what ends and what may go on (decision 015).
            calls = forced_call_grammar(parsers.tool, prompt.tools, parallel=False)
            wider = either([calls["format"], wider])
    told_to_think = json.loads(prompt.variables).get("enable_thinking") is True and isinstance(constraint, JsonSchema)
    # Else it may not begin to: weak models would rather think on than write what the schema demands.
    if parsers.reasoning is not None and (thinking or told_to_think):
        wider = with_reasoning(parsers.reasoning, wider, thinking)
    if wider is format:
        return None
    return await _whole(grammars, {"type": "structural_tag", "format": wider})


async def _whole(grammars: GrammarClient, tag: dict[str, Any]) -> LoweredConstraint:
    """Returns the constraint for a whole tag. Each part of it is sound, but all may be too much. Raises ConstraintError
    without a path: it would lead into what was made here."""
    try:
        return await grammars.check(StructuralTag(tag))
    except ConstraintError as error:
        raise ConstraintError(str(error)) from None


async def _check(grammars: GrammarClient, index: int, tool: Tool, *, strict: bool) -> tuple[Path, ...]:
    """Returns the places in the parameters that can't be enforced. Raises ConstraintError with the tool's number."""
    schema = NO_ARGUMENTS if tool.parameters is None else tool.parameters
    try:
        lowered = await grammars.check(JsonSchema(schema, strict))
        require_object(schema)
    except ConstraintError as error:
        error.tool = index
        raise
    return lowered.unenforced


def _format(constraint: Constraint) -> dict[str, Any] | None:
    """Returns the constraint as a part of a structural tag."""
    if isinstance(constraint, JsonSchema):
        return json_schema(constraint.schema)
    return _inside(constraint.tag)


def _inside(tag: Mapping[str, Any]) -> dict[str, Any] | None:
    format = tag.get("format")
    return format if isinstance(format, dict) else None
