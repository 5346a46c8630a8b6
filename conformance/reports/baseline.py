"""Baselines: files of accepted findings.

    accepted:
      chat/stop/string:
        verdict: fail
        because: Fixed in the next release.
        findings:
        - "POST /chat/completions -> 200: the text has the stop string '…'"

Without `findings`, an entry accepts all findings of its rule. The file may be YAML or JSON.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from specvino.conformance.reports import inert
from specvino.conformance.reports.records import BAD, JUDGED, Line
from specvino.conformance.verdict import Verdict
from specvino.document import yaml_text

# A width in characters that no text has.
UNFOLDED = 2**31 - 1


class BadBaseline(Exception):
    """Raised for a file that isn't a baseline; the message is the reason."""


class Accepted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Literal[Verdict.FAIL, Verdict.ERROR]
    because: str = ""
    findings: tuple[str, ...] | None = None
    """The accepted faults, as in FindingRecord.fault; None for all."""

    def has(self, fault: str) -> bool:
        return self.findings is None or fault in self.findings


class Baseline(BaseModel):
    """The accepted findings by rule."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    accepted: dict[Annotated[str, Field(pattern=".+/.+/.+")], Accepted] = {}

    def mark(self, line: Line) -> Line:
        """Returns the line with its accepted findings marked, and the reason."""
        entry = self.accepted.get(line.rule)
        if entry is None or entry.verdict != line.verdict:
            return line
        findings = tuple(finding.model_copy(update={"accepted": entry.has(finding.fault)}) for finding in line.findings)
        accepted = all(map(entry.has, line.faults))
        return line.model_copy(update={"accepted": accepted, "note": inert.line(entry.because), "findings": findings})

    def unneeded(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yields the rules whose verdict differs from the accepted one."""
        for line in lines:
            entry = self.accepted.get(line.rule)
            if entry is not None and line.verdict in JUDGED and entry.verdict != line.verdict:
                yield line.rule

    def unknown(self, rules: Collection[str]) -> list[str]:
        """Returns the entries whose rules don't exist."""
        return sorted(self.accepted.keys() - set(rules))

    def updated(self, lines: Iterable[Line]) -> "Baseline":
        """Returns a baseline that accepts the findings of these lines, and keeps entries of other rules."""
        accepted = dict(self.accepted)
        for line in lines:
            if line.verdict in BAD:
                old = self.accepted.get(line.rule)
                entry = {"verdict": line.verdict, "because": old.because if old else "", "findings": line.faults}
                accepted[line.rule] = Accepted.model_validate(entry)
            elif line.verdict in JUDGED:
                accepted.pop(line.rule, None)
        return Baseline(accepted=dict(sorted(accepted.items())))

    def write(self, path: Path) -> None:
        """Writes the file. Raises OSError."""
        content = {"accepted": {}} | self.model_dump(mode="json", exclude_defaults=True)
        # In a folded text, a line might begin with what a CI system takes as a command (reports/inert.py).
        path.write_text(yaml_text.dump(content, UNFOLDED), encoding="utf-8")


def read(path: Path) -> Baseline:
    """Reads a baseline. Raises BadBaseline and OSError."""
    try:
        return Baseline.model_validate(yaml.safe_load(path.read_bytes()) or {})
    except (yaml.YAMLError, RecursionError) as error:
        raise BadBaseline(f"{path} isn't a baseline: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise BadBaseline(f"{path} isn't a baseline: {field or 'it'}: {problem['msg']}") from None
