"""The tools that a model may call, as far as their calls' syntax needs them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Tool(Protocol):
    """Is a function. `parameters` is the JSON Schema of its arguments; None takes none."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any] | None: ...


Tools = Mapping[str, Tool]


def by_name(tools: Sequence[Tool]) -> Tools:
    """Returns the tools by their names."""
    return {tool.name: tool for tool in tools}
