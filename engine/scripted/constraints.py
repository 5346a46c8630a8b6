"""What a constraint comes to: what the pipeline would be given for it, and a short text that it allows."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structural_tags.builders import NO_ARGUMENTS
from specvino.engine.grammar.structured_output import LoweredConstraint, constraint_json, example, lower
from specvino.engine.json_schema.errors import Path
from specvino.engine.output_parsers.selection import require_object
from specvino.engine.request import (
    Constraint,
    Conversation,
    GenerationRequest,
    JsonSchema,
    StructuralTag,
    Tool,
)


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """Holds the lowered constraint, and a text that it allows; None for a structural tag that only XGrammar knows."""

    lowered: LoweredConstraint
    example: str | None


def worked_out(constraint: Constraint) -> WorkedOut:
    """Returns what a constraint comes to, which is worked out once for each of the last ones.

    Raises ConstraintError for one that the real engine would refuse by its own rules.
    """
    return _worked_out(isinstance(constraint, JsonSchema), constraint_json(constraint), constraint.strict)


@functools.lru_cache(maxsize=256)
def _worked_out(is_schema: bool, text: str, strict: bool) -> WorkedOut:
    said = json.loads(text)
    constraint = JsonSchema(said, strict) if is_schema else StructuralTag(said, strict)
    return WorkedOut(lower(constraint), example(constraint))


def written_calls(tools: Sequence[Tool], most: int) -> str:
    """Returns one call of each of the first tools, as hermes3 has them."""
    return "\n".join(
        f'<tool_call>\n{{"name": {json.dumps(tool.name)}, "arguments": {_arguments(tool)}}}\n</tool_call>'
        for tool in tools[:most]
    )


def _arguments(tool: Tool) -> str:
    try:
        return worked_out(JsonSchema(_parameters(tool))).example or "{}"
    except ConstraintError:  # a tool that nobody forces may have any parameters
        return "{}"


def _parameters(tool: Tool) -> Mapping[str, Any]:
    return NO_ARGUMENTS if tool.parameters is None else tool.parameters


def written_parameters(tool: Tool) -> str:
    return "" if tool.parameters is None else json.dumps(tool.parameters)


def unenforced_arguments(request: GenerationRequest) -> tuple[tuple[int, Path], ...]:
    """Returns what can't be enforced of the arguments of the tools that must be called: the tool's number and the
    keyword's path. Raises ConstraintError for tools that can't be called."""
    tools = [tool for prompt in request.prompts if isinstance(prompt, Conversation) for tool in prompt.tools]
    found: list[tuple[int, Path]] = []
    for index, tool in enumerate(tools if request.must_call else ()):
        try:
            lowered = worked_out(JsonSchema(_parameters(tool), tool.strict)).lowered
            require_object(_parameters(tool))
        except ConstraintError as error:
            error.tool = index
            raise
        found += [(index, path) for path in lowered.unenforced]
    return tuple(found)
