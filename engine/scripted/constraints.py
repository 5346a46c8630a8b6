"""Constraints and tool calls of the scripted engine, with short texts that satisfy them."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import NO_ARGUMENTS, LoweredConstraint, Path, arguments_object
from specvino.engine.output_parsers.selection import require_object
from specvino.engine.request import (
    Constraint,
    Conversation,
    GenerationRequest,
    JsonSchema,
    StructuralTag,
    Tool,
)
from specvino.engine.structured_output import constraint_json, example, lower


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """A lowered constraint, and a text that it allows; None for a structural tag that only XGrammar can parse."""

    lowered: LoweredConstraint
    example: str | None


def worked_out(constraint: Constraint) -> WorkedOut:
    """Returns a lowered constraint with its example; recent results are cached.

    Raises ConstraintError for a constraint that the real engine's grammars would reject.
    """
    return _worked_out(isinstance(constraint, JsonSchema), constraint_json(constraint), constraint.strict)


@functools.lru_cache(maxsize=256)
def _worked_out(is_schema: bool, text: str, strict: bool) -> WorkedOut:
    value = json.loads(text)
    constraint = JsonSchema(value, strict) if is_schema else StructuralTag(value, strict)
    return WorkedOut(lower(constraint), example(constraint))


def written_calls(tools: Sequence[Tool], most: int) -> str:
    """Returns one call of each of the first tools, in the format hermes3."""
    return "\n".join(
        f'<tool_call>\n{{"name": {json.dumps(tool.name)}, "arguments": {_arguments(tool)}}}\n</tool_call>'
        for tool in tools[:most]
    )


def _arguments(tool: Tool) -> str:
    try:
        return worked_out(JsonSchema(arguments_object(tool.parameters)["json_schema"])).example or "{}"
    except ConstraintError:  # the parameters of a tool that isn't forced aren't validated
        return "{}"


def _parameters(tool: Tool) -> Mapping[str, Any]:
    return NO_ARGUMENTS if tool.parameters is None else tool.parameters


def written_parameters(tool: Tool) -> str:
    """Returns the JSON text of a tool's parameters, empty if it has none."""
    return "" if tool.parameters is None else json.dumps(tool.parameters)


def unenforced_arguments(request: GenerationRequest) -> tuple[tuple[int, Path], ...]:
    """Returns the keywords that can't be enforced in the arguments of forced calls: the tool's index and the path.
    Raises ConstraintError for tools that can't be called.
    """
    tools = [tool for prompt in request.prompts if isinstance(prompt, Conversation) for tool in prompt.tools]
    unenforced: list[tuple[int, Path]] = []
    for index, tool in enumerate(tools if request.must_call else ()):
        try:
            lowered = worked_out(JsonSchema(_parameters(tool), tool.strict)).lowered
            require_object(_parameters(tool))
        except ConstraintError as error:
            error.tool = index
            raise
        unenforced += [(index, path) for path in lowered.unenforced]
    return tuple(unenforced)
