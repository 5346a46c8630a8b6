"""Tests any server that calls itself OpenAI-compatible from outside, and returns a verdict for each rule.

What `__all__` names is public; everything else in this package may change with any version. An example is in
docs/conformance.md, "From Python".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specvino.conformance.judge import Settings, run, run_async, write_report
    from specvino.conformance.preflight import CannotRun
    from specvino.conformance.reports.records import Header, Line, Report
    from specvino.conformance.rule_ids import RULES_VERSION
    from specvino.conformance.verdict import Severity, Verdict

__all__ = [
    "RULES_VERSION",
    "CannotRun",
    "Header",
    "Line",
    "Report",
    "Settings",
    "Severity",
    "Verdict",
    "run",
    "run_async",
    "write_report",
]

_MODULES = {
    "RULES_VERSION": "rule_ids",
    "CannotRun": "preflight",
    "Header": "reports.records",
    "Line": "reports.records",
    "Report": "reports.records",
    "Settings": "judge",
    "Severity": "verdict",
    "Verdict": "verdict",
    "run": "judge",
    "run_async": "judge",
    "write_report": "judge",
}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: the command line needs few of this package's modules to begin."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
