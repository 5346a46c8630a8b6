"""The tools of a conversation that adds and removes some: those that are there at its end, as in vLLM 0.33.0
(entrypoints/anthropic/serving.py: _resolve_tools), since a chat template has one list of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import or_none
from specvino.handlers.tools import OfferedTool, anthropic, offered

Change = models.AnthropicToolAdditionBlock | models.AnthropicToolRemovalBlock


@dataclass(frozen=True, slots=True)
class ChangedTools:
    """`added` are tools that the conversation defines; `removed` are the fields with the tools of the request that the
    model may no longer call."""

    added: tuple[OfferedTool, ...] = ()
    removed: frozenset[str] = frozenset()


def changed_tools(body: models.CreateMessageRequest | models.CountTokensRequest) -> ChangedTools:
    """Returns what the conversation changes of the request's tools. Raises ApiError for a reference to a tool that is
    neither in the request nor defined before."""
    changes = list(_changes(body))
    if not changes:
        return ChangedTools()
    declared = list(offered(or_none(body.tools) or ()))
    known = {tool.name: tool for tool in declared}
    current = dict(known)
    for block, param in changes:
        if isinstance(block.tool, models.AnthropicToolChangeDefinition):
            tool = anthropic(block.tool.definition, f"{param}.tool.definition")
            known[tool.name] = current[tool.name] = tool
            continue
        name = block.tool.name
        if name not in known:
            message = (
                f"{param}.tool.name is {name[:200]!r}, but neither tools nor an earlier tool_addition has this tool."
            )
            raise ApiError(ErrorCode.UNKNOWN_TOOL, message, param=f"{param}.tool.name")
        if isinstance(block, models.AnthropicToolRemovalBlock):
            current.pop(name, None)
        else:
            current[name] = known[name]
    left = {tool.param for tool in current.values()}
    own = {tool.param for tool in declared}
    return ChangedTools(tuple(tool for tool in current.values() if tool.param not in own), frozenset(own - left))


def _changes(body: models.CreateMessageRequest | models.CountTokensRequest) -> Iterator[tuple[Change, str]]:
    for index, message in enumerate(body.messages):
        if not isinstance(message, models.AnthropicSystemMessage) or isinstance(message.content, str):
            continue
        for part, block in enumerate(message.content):
            if not isinstance(block, models.AnthropicTextBlock):
                yield block, f"messages.{index}.content.{part}"
