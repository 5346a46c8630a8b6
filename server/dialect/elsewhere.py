"""The further places at which a system has one of our operations, by the `other_operations` of its document."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.generated.handlers import OPERATIONS


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An operation of ours at a path of the system's own, base path included.

    With `by_status` its answer is a status alone: 200, or this one for an error. With `by_model` it is an object that
    has this under the name of each model. Neither needs a key.
    """

    method: str
    path: str
    operation: str
    by_status: int | None = None
    by_model: Mapping[str, Any] | None = None

    @property
    def id(self) -> str:
        """The operation's id at this place."""
        return f"{self.method} {self.path}"


def elsewhere(head: Mapping[str, Any]) -> Iterator[Elsewhere]:
    """Yields the places, by what the system's document says of the system."""
    by_endpoint = {operation.endpoint: operation.id for operation in OPERATIONS.values()}
    for said in head.get("other_operations", ()):
        if "served_by" not in said:
            continue
        for path in said["path"].split(", "):
            for method in said["method"].split(", "):
                yield Elsewhere(
                    method, path, by_endpoint[said["served_by"]], said.get("by_status"), said.get("by_model")
                )
