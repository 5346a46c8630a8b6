"""A valid request that the server refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.conformance.fuzz.prompts import Prompt, prompts


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A valid request and the error of its answer. `body` is None without one."""

    endpoint: str
    path_parameters: Mapping[str, str]
    body: Mapping[str, Any] | None
    code: str
    param: str | None
    query: Mapping[str, str] = field(default_factory=dict)

    def value(self, param: str) -> Any:
        """Returns the value at a dotted path of the body; None without one."""
        value: Any = self.body
        for name in param.split("."):
            if isinstance(value, Mapping):
                value = value.get(name)
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value

    @property
    def prompts(self) -> list[Prompt]:
        return prompts(self.body or {})
