"""A correct stream of response events, to read and to break."""

import copy
from pathlib import Path

import yaml


def correct():
    """Reasoning, a message and a call whose events overlap; without sequence numbers."""
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def numbered(events):
    """Copies of events, with their sequence numbers."""
    return [{**copy.deepcopy(event), "sequence_number": number} for number, event in enumerate(events)]
