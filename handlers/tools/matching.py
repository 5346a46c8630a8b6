"""Unmatched tool calls and results: the model would read about a call that it doesn't see, or wait for a result."""

from collections.abc import Iterator
from dataclasses import dataclass

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError, reported


@dataclass(frozen=True, slots=True)
class _Unmatched:
    param: str
    message: str


class CallMatcher:
    """The calls and results of one conversation, in their order."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._unmatched: list[_Unmatched] = []

    def call(self, id: str, param: str) -> None:
        """Adds the call `id`; `param` is the field with the id."""
        self._open[id] = param

    def result(self, id: str, param: str) -> None:
        """Adds a result of the call `id`; `param` is the field with the id."""
        if self._open.pop(id, None) is None:
            message = f"{param} is {id[:200]!r}, but there is no tool call with this id before it."
            self._unmatched.append(_Unmatched(param, message))

    def reported(self, context: RequestContext) -> tuple[str, ...]:
        """Returns the ids without a counterpart, as fields without effect. Raises ApiError where they are refused."""
        unmatched = [*self._unmatched, *self._without_results()]
        if unmatched and context.refuses_unmatched_calls:
            raise ApiError(ErrorCode.INVALID_VALUE, unmatched[0].message, param=unmatched[0].param)
        return reported(context, dict.fromkeys(entry.param for entry in unmatched))

    def _without_results(self) -> Iterator[_Unmatched]:
        for id, param in self._open.items():
            yield _Unmatched(param, f"The tool call {id[:200]!r} has no result after it ({param}).")
