"""Constraints of answers: the structured output or the calls that a request requires, and reasoning before both."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import NO_ARGUMENTS, LoweredConstraint, Path, constant, either, json_schema, sequence
from specvino.engine.openvino.client.grammars import GrammarClient
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
    """The constraint of an answer. `lowered` is None for an unconstrained answer; `behind_reasoning` is the same for
    the answer after reasoning that has used up its budget. The others are as in `Started`.
    """

    lowered: LoweredConstraint | None = None
    unenforced: tuple[Path, ...] = ()
    unenforced_arguments: tuple[tuple[int, Path], ...] = ()
    behind_reasoning: LoweredConstraint | None = None


async def resolve_constraint(
    grammars: GrammarClient, request: GenerationRequest, prompt: Prompt, parsers: SelectedParsers, *, thinking: bool
) -> ResolvedConstraint:
    """Returns the constraint of the answer to a prompt; with `thinking` the prompt has started the reasoning.

    Raises ConstraintError and EngineUnavailable.
    """
    if not isinstance(prompt, Conversation):
        prompt = Conversation(())
    # Checked separately, for clear error messages.
    lowered = await grammars.check(request.constraint) if request.constraint else None
    if request.must_call:
        return await _calls(grammars, request, prompt, parsers, thinking)
    held = [index for index, tool in enumerate(prompt.tools) if tool.held]
    if request.constraint is None or lowered is None:
        return await _own_calls(grammars, prompt, parsers, thinking, held) if held else ResolvedConstraint()
    wider = await _allow_tools_and_reasoning(grammars, request.constraint, prompt, parsers, thinking)
    # A client's own structural tag defines the form of calls, regardless of the tools' schemas.
    free = held if isinstance(request.constraint, StructuralTag) else ()
    return ResolvedConstraint(wider or lowered, lowered.unenforced, tuple((index, ()) for index in free))


async def _calls(
    grammars: GrammarClient, request: GenerationRequest, prompt: Conversation, parsers: SelectedParsers, thinking: bool
) -> ResolvedConstraint:
    assert parsers.tool is not None
    unenforced = await _unenforced(grammars, prompt, parsers.tool)
    tag = forced_call_grammar(parsers.tool, prompt.tools, request.parallel_calls, parsers.reasoning, thinking)
    lowered = await _composed(grammars, tag)
    return ResolvedConstraint(lowered, unenforced_arguments=unenforced)


async def _own_calls(
    grammars: GrammarClient, prompt: Conversation, parsers: SelectedParsers, thinking: bool, held: Sequence[int]
) -> ResolvedConstraint:
    """Returns the constraint of calls that aren't forced. If they can't be constrained, the request isn't rejected: the
    parameters of the tools with `held` are reported as unenforced.
    """
    assert parsers.tool is not None
    try:
        unenforced = await _unenforced(grammars, prompt, parsers.tool)
        lowered = await _composed(grammars, held_call_grammar(parsers.tool, prompt.tools, parsers.reasoning, thinking))
    except ConstraintError as error:
        if any(tool.strict for tool in prompt.tools):
            error.tool = held[0] if error.tool is None else error.tool  # all tools together are too large
            raise
        return ResolvedConstraint(unenforced_arguments=tuple((index, ()) for index in held))
    return ResolvedConstraint(
        lowered, unenforced_arguments=tuple((index, path) for index, path in unenforced if index in held)
    )


async def _unenforced(
    grammars: GrammarClient, prompt: Conversation, tool_format: ToolFormat
) -> tuple[tuple[int, Path], ...]:
    """Returns the paths in the tools' parameters that can't be enforced. Raises ConstraintError."""
    unenforced = []
    for index, tool in enumerate(prompt.tools):
        paths = dict.fromkeys(await _check(grammars, index, tool, strict=tool.strict))
        left = unenforceable_keywords(tool_format, tool)
        if tool.strict and left:
            path, reason = next(iter(left.items()))
            error = ConstraintError(reason, path, unsupported=True)
            error.tool = index
            raise error
        unenforced += [(index, path) for path in paths | dict.fromkeys(left)]
    return tuple(unenforced)


async def _allow_tools_and_reasoning(
    grammars: GrammarClient,
    constraint: Constraint,
    prompt: Conversation,
    parsers: SelectedParsers,
    thinking: bool,
) -> LoweredConstraint | None:
    """Returns the constraint that also allows a tool call instead, or reasoning first; None if there is neither."""
    format = _format(constraint)
    if format is None:
        return None
    wider = format
    framed = framing(parsers.tool if prompt.tools and parsers.reasoning is None else None, parsers.reasoning)
    # A client's own structural tag defines the form of messages and calls.
    if isinstance(constraint, JsonSchema):
        if framed is not None:
            wider = sequence([constant(framed.answer), wider])
        if prompt.tools and parsers.tool is not None:
            for index, tool in enumerate(prompt.tools):
                await _check(grammars, index, tool, strict=False)
            # One call: a tag of XGrammar 0.1.31 can't be a choice between a format that ends and one that may continue
            # (decision 015).
            calls = forced_call_grammar(parsers.tool, prompt.tools, parallel=False)
            wider = either([calls["format"], wider])
    told_to_think = json.loads(prompt.variables).get("enable_thinking") is True and isinstance(constraint, JsonSchema)
    # Otherwise reasoning isn't allowed: weak models would continue it instead of writing the required JSON.
    if parsers.reasoning is not None and (thinking or told_to_think):
        wider = with_reasoning(parsers.reasoning, wider, thinking)
    if wider is format:
        return None
    return await _composed(grammars, {"type": "structural_tag", "format": wider})


async def _composed(grammars: GrammarClient, tag: dict[str, Any]) -> LoweredConstraint:
    """Returns the constraint for a composed tag. Its parts are valid, but together they may be too large. Raises
    ConstraintError without a path, since a path in the composed tag means nothing to the client.
    """
    try:
        return await grammars.check(StructuralTag(tag))
    except ConstraintError as error:
        raise ConstraintError(str(error)) from None


async def _check(grammars: GrammarClient, index: int, tool: Tool, *, strict: bool) -> tuple[Path, ...]:
    """Returns the paths in the parameters that can't be enforced. Raises ConstraintError with the tool's index."""
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
