"""Events that are no part of an answer: signs of life, results of a filter, and events of a server's own types."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from specvino.conformance.streams.state_machines import facts_of
from specvino.document.validator import Validator
from specvino.generated.streams import Stream


def is_aside(table: Stream, event: Mapping[str, Any]) -> bool:
    """Returns whether an event is no part of the answer: by the table's schema, or since its type is unknown."""
    aside = _aside(table)
    return unknown_type(table, event) is not None or (aside is not None and aside.fits(event))


def unknown_type(table: Stream, event: Mapping[str, Any]) -> str | None:
    """Returns the type of an event that the table doesn't have; None for all others, also for those without a type."""
    name = event.get(table.classify) if isinstance(table.classify, str) else None
    return name if isinstance(name, str) and name not in _facts(table) else None


@cache
def _facts(table: Stream) -> frozenset[str]:
    return frozenset(fact for machine in table.machines for fact in facts_of(machine))


@cache
def _aside(table: Stream) -> Validator | None:
    return None if table.aside is None else Validator(table.aside)
