"""A correct stream of response events, to read and to break."""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from specvino.document import yaml_text


def correct() -> list[dict[str, Any]]:
    """Reasoning, a message and a call whose events overlap; without sequence numbers."""
    events: list[dict[str, Any]] = yaml_text.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return events


def numbered(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Copies of events, with their sequence numbers."""
    return [{**copy.deepcopy(event), "sequence_number": number} for number, event in enumerate(events)]
