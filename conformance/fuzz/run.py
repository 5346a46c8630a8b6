"""Runs Schemathesis and collects what it found."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import schemathesis
from schemathesis import Case, HookContext
from schemathesis.checks import CHECKS as REGISTRY
from schemathesis.engine import Status, events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER

from specvino.conformance.fuzz.caps import Caps
from specvino.conformance.fuzz.checks import CHECKS
from specvino.conformance.fuzz.document import foldable
from specvino.conformance.fuzz.excuses import Excuses, unknown_codes
from specvino.conformance.fuzz.kept import Kept
from specvino.conformance.fuzz.report import Finding, Report
from specvino.conformance.fuzz.server import Server

PHASES = ("examples", "coverage", "fuzzing", "stateful")

TIMEOUT = 60
"""Seconds for one request: a request that takes longer is a finding."""


def fuzz(
    base_url: str,
    key: str | None,
    document: Mapping[str, Any],
    *,
    max_examples: int,
    seed: int,
    phases: Sequence[str] = PHASES,
    operations: Sequence[str] | None = None,
) -> Report:
    """Sends what Schemathesis makes of the document to the server at `base_url`, valid and invalid.

    `document` is the OpenAPI 3.2 one: only it describes the events of streams. `max_examples` bounds the requests of
    each operation in the phase `fuzzing` and the sequences of `stateful`; `examples` and `coverage` follow from the
    document. `operations` are operationIds; without it all. Raises OSError for a server that doesn't answer, and
    ValueError for a document with a refusal that nobody can judge.
    """
    if unknown := unknown_codes(document):
        raise ValueError(f"no predicate judges the refusals {', '.join(sorted(unknown))}")
    report = Report()
    server = Server(base_url, key, document)
    config = _config(base_url, key, max_examples, seed, phases)
    schema: schemathesis.BaseSchema = schemathesis.openapi.from_dict(foldable(document), config=config)
    schema.hooks.register_hook_with_name(Excuses(server, report), "filter_failure")
    if operations is not None:
        schema = schema.include(operation_id=list(operations))
    with _registered(Caps(document, server.models, report), Kept(server, report)):
        for event in from_schema(schema).execute():
            _record(event, report)
    return report


def _config(base_url: str, key: str | None, max_examples: int, seed: int, phases: Sequence[str]) -> schemathesis.Config:
    return schemathesis.Config.from_dict(
        {
            "base-url": base_url,
            "seed": seed,
            "continue-on-failure": True,
            "request-timeout": TIMEOUT,
            # What an earlier run learned must not change this one.
            "cache": {"enabled": False},
            # Streams are read to their end: the default of 20 events would cut off what they must end with.
            "max-stream-events": 1_000_000,
            "auth": {"openapi": {"BearerAuth": {"bearer": key}}} if key else {},
            "generation": {
                "mode": "all",
                "max-examples": max_examples,
                "database": "none",
                # The check ignored_auth tries every operation without a key and with a wrong one. If keys were
                # generated too, most invalid requests were refused for theirs, before anybody looks at their bodies.
                "with-security-parameters": False,
            },
            "phases": {phase: {"enabled": phase in phases} for phase in PHASES},
            # Every check is on but max_response_time, which would measure the machine.
            "checks": {
                # Stricter than the default, which lets 401, 404, 409, 429 and 5xx pass for valid requests.
                "positive_data_acceptance": {"expected-statuses": ["2xx"]},
                # Any refusal will do, 413 too (some invalid bodies are over the limit of bytes); no 5xx, as by default.
                # Which statuses an operation has is for status_code_conformance.
                "negative_data_rejection": {"expected-statuses": ["4xx"]},
            },
            # Else `curl` shows "[Filtered]" for every field with "token" in its name.
            "output": {"sanitization": {"enabled": False}},
            # How fast the machine draws data is not what is tested.
            "suppress-health-check": ["too_slow"],
        }
    )


@contextlib.contextmanager
def _registered(caps: Caps, kept: Kept) -> Iterator[None]:
    """Schemathesis knows checks and the hook before a call only globally; here for as long as a run takes."""

    def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
        caps.apply(case)
        kept.apply(case)

    GLOBAL_HOOK_DISPATCHER.register_hook_with_name(before_call, "before_call")
    for check in CHECKS:
        schemathesis.check(check)
    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(before_call)
        for check in CHECKS:
            REGISTRY.unregister(check.__name__)


def _record(event: events.EngineEvent, report: Report) -> None:
    if isinstance(event, events.ScenarioFinished):
        _record_scenario(event.phase.value, event.recorder, report)
    elif isinstance(event, events.NonFatalError):
        report.errors.append(f"{event.label}: {event.value}")
    elif isinstance(event, events.FatalError):
        raise event.exception
    elif isinstance(event, events.Interrupted):
        raise KeyboardInterrupt


def _record_scenario(phase: str, recorder: ScenarioRecorder, report: Report) -> None:
    for id, node in recorder.cases.items():
        response = recorder.find_response(case_id=id)
        report.cases[phase, node.value.operation.label, response.status_code if response else 0] += 1
    for id, checks in recorder.checks.items():
        for check in checks:
            report.checks[check.name] += 1
            if check.status is Status.FAILURE and check.failure_info is not None:
                failure = check.failure_info.failure
                response = recorder.find_response(case_id=failure.case_id or id)
                report.findings.append(
                    Finding(
                        operation=recorder.cases[id].value.operation.label,
                        check=check.name,
                        message=f"{failure.title}: {failure.message}",
                        curl=check.failure_info.code_sample,
                        response=f"{response.status_code} {response.text}" if response else "nothing",
                    )
                )
