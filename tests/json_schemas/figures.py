"""What becomes of the schemas of the suite and of the corpus, in figures."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from samples.outcomes import Outcome, outcome
from samples.spellings import spellings

from json_schemas.suite import Group


@dataclass
class Figures:
    """Counts of schemas: those that are enforced in full, by keyword those of which it is named, by reason those that
    are refused. `seconds` is the CPU time of each conversion.
    """

    schemas: int = 0
    enforced: int = 0
    named: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def add(self, schema: Any) -> Outcome:
        start = time.process_time()
        result = outcome(schema)
        self.seconds.append(time.process_time() - start)
        self.schemas += 1
        self.enforced += result.enforced
        self.named.update(result.named)
        if result.grammar is None:
            self.refused[result.reason] += 1
        return result

    @property
    def milliseconds(self) -> tuple[float, float, float]:
        """Median, 99th percentile and maximum."""
        ordered = sorted(self.seconds)
        median, late, last = (1000 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99, 1))
        return median, late, last


@dataclass
class SuiteFigures(Figures):
    """`valid` are the instances that satisfy the schemas which are enforced in full, and `reachable` those of them that
    the grammars allow."""

    valid: int = 0
    reachable: int = 0

    def add_group(self, group: Group) -> None:
        result = self.add(group.schema)
        if result.enforced:
            valid = [value for value, is_valid in group.instances if is_valid]
            self.valid += len(valid)
            self.reachable += sum(any(map(result.matcher.matches, spellings(value))) for value in valid)


def of_all(schemas: Iterable[tuple[str, Any]]) -> Figures:
    figures = Figures()
    for _, schema in schemas:
        figures.add(schema)
    return figures
