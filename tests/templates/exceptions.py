"""Known deviations of the templates, each with its reason."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from templates.conversations import NAMES
from templates.oracle import CHECKS
from templates.turns import CASES


@dataclass(frozen=True)
class Excepted:
    """`cases` are conversations that are rendered differently, or cases of the oracle that fail `checks`."""

    because: str
    templates: Collection[str]
    cases: Collection[str]
    checks: Collection[str] = ()

    def holds(self, template: str, case: str) -> bool:
        return template in self.templates and case in self.cases


@dataclass(frozen=True)
class Exceptions:
    rendering: Sequence[Excepted]
    calls: Sequence[Excepted]

    def different(self, template: str, conversation: str) -> bool:
        """Returns whether a conversation is known to be rendered differently."""
        return any(excepted.holds(template, conversation) for excepted in self.rendering)

    def failing(self, template: str, case: str) -> set[str]:
        """Returns the checks of the oracle that are known to fail."""
        return {check for excepted in self.calls if excepted.holds(template, case) for check in excepted.checks}

    def of(self, template: str) -> list[Excepted]:
        return [excepted for excepted in (*self.rendering, *self.calls) if template in excepted.templates]

    @property
    def templates(self) -> set[str]:
        return {name for excepted in (*self.rendering, *self.calls) for name in excepted.templates}


def read(file: Path) -> Exceptions:
    """Reads a file, whose entries must name existing conversations, cases and checks. An entry without `cases` covers
    all of them."""
    content = yaml.safe_load(file.read_text("utf-8"))
    rendering = [Excepted(**{"cases": NAMES, **entry}) for entry in content.get("rendering", ())]
    calls = [Excepted(**{"cases": CASES, **entry}) for entry in content["calls"]]
    for excepted, cases, checks in [(excepted_case, NAMES, ()) for excepted_case in rendering] + [
        (excepted_case, CASES, CHECKS) for excepted_case in calls
    ]:
        assert excepted.because
        assert excepted.templates
        assert set(excepted.cases) <= set(cases), f"there is no {set(excepted.cases) - set(cases)}"
        assert set(excepted.checks) <= set(checks), f"there is no {set(excepted.checks) - set(checks)}"
    return Exceptions(rendering, calls)


# Those of the corpus.
KNOWN = read(Path(__file__).with_suffix(".yaml"))
