"""The document of one running server."""

from dataclasses import replace
from typing import Any

from specvino.document.loading import dialect_file, load, lowered, whole
from specvino.document.transforms import copied, folded, to_32
from specvino.engine.errors import EngineUnavailable
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModels
from specvino.handlers.own_document.bounds import bound
from specvino.handlers.own_document.content import read_items, read_text_only
from specvino.handlers.own_document.facts import Door, Facts, widest
from specvino.handlers.own_document.operations import (
    ask_for_no_key,
    name_models,
    say_only_events,
    send_bodies_as_they_are,
    store_nothing,
)


class OwnDocument:
    """The document of the running server; the facts of its models are in it once all are loaded."""

    def __init__(self, served: ServedModels, limits: Limits, door: Door) -> None:
        self._engines = served.engines
        self._known = Facts(served.names, None, limits, door)
        self._made: dict[tuple[str, bool], dict[str, Any]] = {}

    def of(self, version: str | None = None) -> dict[str, Any]:
        """Returns it in that version of OpenAPI, 3.1 or 3.2. It is cached, so callers must copy it before they change
        it. A server that emulates a system has that system's document, without facts about its own models.
        """
        facts = self._facts()
        system = facts.door.system
        version = version or ("3.1" if system else "3.2")
        key = version, facts.model is not None
        if key not in self._made:
            if system:
                self._made[key] = emulated(system, version, asks_for_key=facts.door.asks_for_key)
            else:
                self._made[key] = described(lowered() if version == "3.1" else whole(), facts)
        return self._made[key]

    def _facts(self) -> Facts:
        try:
            models = [engine.model for engine in self._engines]
        except EngineUnavailable:
            return self._known
        return replace(self._known, model=widest(models), mixed_vision=len({model.vision for model in models}) > 1)


def emulated(system: str, version: str, *, asks_for_key: bool) -> dict[str, Any]:
    """Returns the document of a system, without its keys if the server asks for none."""
    document = load(dialect_file(system))
    own = copied(to_32(document) if version == "3.2" else document)
    if not asks_for_key:
        ask_for_no_key(own)
    return own


def described(document: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Returns the document, adapted to a server."""
    own = copied(document)
    if not facts.door.asks_for_key:
        ask_for_no_key(own)
    name_models(own, facts.names)
    read_items(own)
    if facts.model is not None and not facts.model.vision:
        read_text_only(own)
    bound(own, facts)
    if not facts.limits.stores_responses:
        store_nothing(own)
    send_bodies_as_they_are(own)
    say_only_events(own)
    return folded(own)
