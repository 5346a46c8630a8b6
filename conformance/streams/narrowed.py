"""The tables of streams as a system follows them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specvino.generated.streams import Consecutive, Constant, Law, Machine, Stream


def narrowed(table: Stream, stream: Mapping[str, Any]) -> Stream:
    """Returns a table of the complete document, reduced to what the `x-stream` of a system's document has of it."""
    laws = {law["law"]: law for law in stream["laws"] if isinstance(law, dict)} | {
        law: {} for law in stream["laws"] if isinstance(law, str)
    }
    return replace(
        table,
        framing=stream["framing"],
        terminator=stream["terminator"],
        machines=tuple(
            _narrower(machine, stream["machines"][machine.name])
            for machine in table.machines
            if machine.name in stream["machines"]
        ),
        laws=tuple(
            _adapted(law, laws[_name(law)])
            for law in table.laws
            if _name(law) in laws and getattr(law, "of", None) in (None, *stream["machines"])
        ),
        silent=stream.get("silent", False),
    )


def _narrower(machine: Machine, narrower: Mapping[str, Any]) -> Machine:
    body, end = tuple(narrower.get("body", ())), tuple(narrower.get("end", ()))
    return replace(machine, open=narrower.get("open"), body=body, end=end)


def _adapted(law: Law, values: Mapping[str, Any]) -> Law:
    if isinstance(law, Consecutive):
        return replace(law, start=values["from"])
    return replace(law, fields=tuple(values["fields"])) if isinstance(law, Constant) else law


def _name(law: Law) -> str:
    """Returns a law's name in the document: `one fact` for OneFact."""
    return re.sub("(?<!^)([A-Z])", r" \1", type(law).__name__).lower()
