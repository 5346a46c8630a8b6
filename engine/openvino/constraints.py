"""What an answer is held to: the form that the request wants, calls that it demands, and thoughts around both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structural_tags.builders import NO_ARGUMENTS, constant, either, json_schema, sequence
from specvino.engine.grammar.structured_output import Form
from specvino.engine.json_schema.errors import Path
from specvino.engine.openvino.grammar_client import GrammarClient
from specvino.engine.output_parsers import FRAMINGS, forced, thoughtful, unenforceable_keywords
from specvino.engine.output_parsers.selection import OutputFormats, require_object
from specvino.engine.request import Constraint, Conversation, GenerationRequest, JsonSchema, Prompt, StructuralTag, Tool


@dataclass(frozen=True, slots=True)
class Held:
    """`form` is None for an answer that may be anything; the others are as in `Started`."""

    form: Form | None = None
    unenforced: tuple[Path, ...] = ()
    unenforced_arguments: tuple[tuple[int, Path], ...] = ()


async def held(
    grammars: GrammarClient, request: GenerationRequest, prompt: Prompt, formats: OutputFormats, *, thinking: bool
) -> Held:
    """`thinking`: the prompt has begun thoughts. Raises what the client of grammars raises."""
    if not isinstance(prompt, Conversation):
        prompt = Conversation(())
    # Alone it tells best what is wrong with it.
    form = await grammars.check(request.constraint) if request.constraint else None
    if request.must_call:
        return await _calls(grammars, request, prompt, formats, thinking)
    if request.constraint is None or form is None:
        return Held()
    wider = await _around(grammars, request.constraint, prompt, formats, thinking)
    return Held(wider or form, form.unenforced)


async def _calls(
    grammars: GrammarClient, request: GenerationRequest, prompt: Conversation, formats: OutputFormats, thinking: bool
) -> Held:
    assert formats.tool is not None
    unenforced = []
    for index, tool in enumerate(prompt.tools):
        found = dict.fromkeys(await _check(grammars, index, tool, strict=tool.strict))
        left = unenforceable_keywords(formats.tool, tool)
        if tool.strict and left:
            path, reason = next(iter(left.items()))
            error = ConstraintError(reason, path, unsupported=True)
            error.tool = index
            raise error
        unenforced += [(index, path) for path in found | dict.fromkeys(left)]
    tag = forced(formats.tool, prompt.tools, None, request.parallel_calls, formats.reasoning, thinking)
    form = await _whole(grammars, tag)
    return Held(form, unenforced_arguments=tuple(unenforced))


async def _around(
    grammars: GrammarClient,
    constraint: Constraint,
    prompt: Conversation,
    formats: OutputFormats,
    thinking: bool,
) -> Form | None:
    """The constraint where the model may call tools instead, or thinks before; None where there is neither."""
    format = _format(constraint)
    if format is None:
        return None
    wider = format
    framing = FRAMINGS.get(formats.reasoning or (formats.tool if prompt.tools else None) or "")
    # Who writes structural tags says in them what messages and calls look like.
    if isinstance(constraint, JsonSchema):
        if framing is not None:
            wider = sequence([constant(framing.answer), wider])
        if prompt.tools and formats.tool is not None:
            for index, tool in enumerate(prompt.tools):
                await _check(grammars, index, tool, strict=False)
            # One call: tags of XGrammar 0.1.31 can't choose between what ends and what may go on (decision 015).
            calls = forced(formats.tool, prompt.tools, None, parallel=False)
            wider = either([calls["format"], wider])
    told_to_think = json.loads(prompt.variables).get("enable_thinking") is True and isinstance(constraint, JsonSchema)
    # Else it may not begin to: weak models would rather think on than write what the form demands.
    if formats.reasoning is not None and (thinking or told_to_think):
        wider = thoughtful(formats.reasoning, wider, thinking)
    if wider is format:
        return None
    return await _whole(grammars, {"type": "structural_tag", "format": wider})


async def _whole(grammars: GrammarClient, tag: dict[str, Any]) -> Form:
    """Each part of it is sound, but all may be too much. Raises ConstraintError without a path: it would lead into what
    was made here."""
    try:
        return await grammars.check(StructuralTag(tag))
    except ConstraintError as error:
        raise ConstraintError(str(error)) from None


async def _check(grammars: GrammarClient, index: int, tool: Tool, *, strict: bool) -> tuple[Path, ...]:
    """The places in the parameters that can't be enforced. Raises ConstraintError with the tool's number."""
    schema = NO_ARGUMENTS if tool.parameters is None else tool.parameters
    try:
        form = await grammars.check(JsonSchema(schema, strict))
        require_object(schema)
    except ConstraintError as error:
        error.tool = index
        raise
    return form.unenforced


def _format(constraint: Constraint) -> dict[str, Any] | None:
    """The constraint as a part of a structural tag."""
    if isinstance(constraint, JsonSchema):
        return json_schema(constraint.schema)
    return _inside(constraint.tag)


def _inside(tag: Mapping[str, Any]) -> dict[str, Any] | None:
    format = tag.get("format")
    return format if isinstance(format, dict) else None
