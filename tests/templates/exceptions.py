"""What is known not to be as it should, each with its reason: exceptions.yaml."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from templates.conversations import NAMES
from templates.oracle import CHECKS
from templates.turns import CASES

FILE = Path(__file__).with_name("exceptions.yaml")


@dataclass(frozen=True)
class Excepted:
    """`cases` are cases of the oracle or conversations; `checks` are those of the oracle that fail in them."""

    because: str
    templates: Collection[str]
    cases: Collection[str]
    checks: Collection[str] = ()

    def holds(self, template: str, case: str) -> bool:
        return template in self.templates and case in self.cases


@cache
def rendering() -> list[Excepted]:
    return [_read(entry, NAMES, ()) for entry in _file()["rendering"]]


@cache
def calls() -> list[Excepted]:
    return [_read(entry, CASES, CHECKS) for entry in _file()["calls"]]


def failing(template: str, case: str) -> set[str]:
    """Returns the checks of the oracle that are known to fail."""
    return {check for each in calls() if each.holds(template, case) for check in each.checks}


def _file() -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    return {part: content[part] or [] for part in ("rendering", "calls")}


def _read(entry: Mapping[str, Any], cases: Collection[str], checks: Collection[str]) -> Excepted:
    """Reads an entry, which has to be about what there is; without `cases` it is about all."""
    excepted = Excepted(**{"cases": cases, **entry})
    assert excepted.because
    assert excepted.templates
    assert set(excepted.cases) <= set(cases), f"there is no {set(excepted.cases) - set(cases)}"
    assert set(excepted.checks) <= set(checks), f"there is no {set(excepted.checks) - set(checks)}"
    return excepted
