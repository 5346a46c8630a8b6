"""Tests OpenAI-compatible servers over HTTP and returns a verdict for each rule, or compares two servers.

The names in `__all__` are public; everything else may change with any version. docs/conformance.md, "From Python", has
an example.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specvino.conformance.preflight import CannotRun
    from specvino.conformance.python_api import Settings, parity, parity_async, run, run_async, write_report
    from specvino.conformance.reports.readiness import Readiness, readiness
    from specvino.conformance.reports.records import Header, Line, Report
    from specvino.conformance.rule_catalog import RULES_VERSION
    from specvino.conformance.verdict import Severity, Verdict

__all__ = [
    "RULES_VERSION",
    "CannotRun",
    "Header",
    "Line",
    "Readiness",
    "Report",
    "Settings",
    "Severity",
    "Verdict",
    "parity",
    "parity_async",
    "readiness",
    "run",
    "run_async",
    "write_report",
]

_MODULES = {
    "RULES_VERSION": "rule_catalog",
    "CannotRun": "preflight",
    "Header": "reports.records",
    "Line": "reports.records",
    "Readiness": "reports.readiness",
    "Report": "reports.records",
    "Settings": "python_api",
    "Severity": "verdict",
    "Verdict": "verdict",
    "parity": "python_api",
    "parity_async": "python_api",
    "readiness": "reports.readiness",
    "run": "python_api",
    "run_async": "python_api",
    "write_report": "python_api",
}


def __getattr__(name: str) -> Any:
    """Imports a public name on first use: the command line needs only a few of this package's modules."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
