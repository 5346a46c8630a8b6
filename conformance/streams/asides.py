"""Events that are no part of an answer: signs of life, results of a filter, and events of a server's own types."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from specvino.conformance.streams.state_machines import facts_of
from specvino.document.validator import Validator
from specvino.generated.streams import Stream


def is_aside(table: Stream, event: Mapping[str, Any]) -> bool:
    """Returns whether an event is no part of the answer: by the table's schema, or since the table lacks its type."""
    aside = _aside(table)
    return lacks_type(table, event) or (aside is not None and aside.fits(event))


def lacks_type(table: Stream, event: Mapping[str, Any]) -> bool:
    """Returns whether the table lacks the type of an event; False for an event without a type."""
    name = event.get(table.classify) if isinstance(table.classify, str) else None
    return isinstance(name, str) and name not in _facts(table)


@cache
def _facts(table: Stream) -> frozenset[str]:
    return frozenset(fact for machine in table.machines for fact in facts_of(machine))


@cache
def _aside(table: Stream) -> Validator | None:
    return None if table.aside is None else Validator(table.aside)
