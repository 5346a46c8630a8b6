"""Runs Schemathesis and records requests and findings."""

import contextlib
import copy
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
import schemathesis
from schemathesis import Case, HookContext
from schemathesis.checks import CHECKS as REGISTRY
from schemathesis.core.errors import NoLinksFound
from schemathesis.core.failures import Failure
from schemathesis.engine import Status, StopReason, events, from_schema
from schemathesis.engine.core import EventStream
from schemathesis.engine.errors import ServerUnavailable
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.engine.run import PhaseName
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER
from schemathesis.openapi.checks import JsonSchemaError

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.bounded_answers import bound
from specvino.conformance.fuzz.document import generatable
from specvino.conformance.fuzz.exchanges import SchemathesisCheck, checks_for, endpoint_of, exchange_of
from specvino.conformance.fuzz.expected_refusals import ExpectedRefusals, unknown_codes
from specvino.conformance.fuzz.other_vendor_filter import OtherVendorFilter
from specvino.conformance.fuzz.report import MAX_REFUSALS, Ended, FuzzFinding, FuzzReport
from specvino.conformance.fuzz.request_limits import RequestLimits, has_unknown_reference
from specvino.conformance.fuzz.server import Server
from specvino.conformance.fuzz.stored_ids import NotStored, StoredIds
from specvino.conformance.http.client import Target
from specvino.conformance.http.content import IDENTITY
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.refused_fields import RefusedFields
from specvino.document.transforms import to_32

ENDED: dict[StopReason, Ended] = {
    StopReason.MAX_TIME: "max_time",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.SERVER_UNAVAILABLE: "server_unavailable",
}

PHASES = ("examples", "coverage", "fuzzing", "stateful")


def fuzz(target: Target, dialect: Dialect, **how: Any) -> FuzzReport:
    """Tests a server with requests that Schemathesis generates from the dialect's document, and returns the report. The
    keyword arguments are those of FuzzRun. Raises as `FuzzRun.execute` does."""
    run = FuzzRun(target, dialect, **how)
    run.execute()
    return run.report


@dataclass(slots=True)
class FuzzRun:
    """One run of Schemathesis.

    `max_examples` limits the requests per operation in the phase `fuzzing` and the sequences in `stateful`; `examples`
    and `coverage` follow from the document. `operations` are operationIds, by default all. A request that exceeds the
    target's timeout is a finding. `max_time` is in seconds.
    """

    target: Target
    dialect: Dialect
    max_examples: int
    seed: int
    phases: Sequence[str] = PHASES
    operations: Sequence[str] | None = None
    models: Sequence[str] = ()
    """Names for requests; by default the models that the server lists."""
    without: Collection[str] = ()
    """Checks to leave out."""
    max_time: float | None = None
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    """The fields that the model refuses, with the field that is sent instead; None if they are left out."""
    frugal: bool = False
    """Whether to limit the length of all answers (see request_limits.py)."""
    report: FuzzReport = field(default_factory=FuzzReport)
    on_exchange: Callable[[Exchange], None] | None = None
    """Called with each exchange, in the order of the scenarios."""
    _served: Sequence[str] = ()
    _events: EventStream | None = None
    _stopped: bool = False
    _complete: bool = False
    """Whether all phases completed once."""
    _cut_short: bool = False
    _begun: float = field(default_factory=time.monotonic)
    _phase_begun: float = field(default_factory=time.monotonic)

    def execute(self) -> None:
        """Runs to the end, and fills the report meanwhile. Raises OSError for a server that doesn't answer, and
        ValueError for a document with a refusal that can't be verified."""
        document = self.dialect.document
        if unknown := unknown_codes(document):
            raise ValueError(f"the refusals {', '.join(sorted(unknown))} can't be verified")
        server = Server(self.target, document)
        models = self._served = self.models or server.models
        schema = self.schema(server)
        if self.operations is not None:
            schema = schema.include(operation_id=list(self.operations))
        request_limits = RequestLimits(document, models, self.report, server.facts, frugal=self.frugal)
        stored_ids = StoredIds(server, models[0], self.report)
        refused = RefusedFields(self.dialect, self.replaced)
        own = [check for check in checks_for(self.dialect) if check.__name__ not in self.without]
        with without_proxies(), _without_local_constants(), _registered(request_limits, stored_ids, refused, own):
            self._begun = time.monotonic()
            self._events = from_schema(schema).execute()
            if self._stopped:
                return
            for event in self._events:
                self._record(event)

    def schema(self, server: Server | None = None) -> schemathesis.BaseSchema:
        """Returns the document as a Schemathesis schema. With a server, hooks drop failures that aren't findings."""
        generation_document = generatable(to_32(self.dialect.document), self.operations)
        # Schemathesis 4.32 adds links to the document that it is given, which is shared.
        private = copy.deepcopy(generation_document)
        schema: schemathesis.BaseSchema = schemathesis.openapi.from_dict(private, config=self._config())
        if server is not None:
            vendor_filter = OtherVendorFilter(self.dialect, self.report, self._served)
            failure_filter = ExpectedRefusals(server, self.report) if self.dialect.lists_refusals else vendor_filter
            schema.hooks.register_hook_with_name(failure_filter, "filter_failure")
            not_stored = NotStored()
            schema.hooks.register_hook_with_name(not_stored.after_call, "after_call")
            schema.hooks.register_hook_with_name(not_stored.filter_failure, "filter_failure")
        return schema

    def stop(self) -> None:
        """Stops the run after the current request. Thread-safe."""
        self._stopped = True
        if self._events is not None:
            self._events.stop()

    @property
    def _own_checks(self) -> set[str]:
        """Returns the names of our checks, which Schemathesis' configuration doesn't accept."""
        return {check.__name__ for check in checks_for(self.dialect)}

    def _config(self) -> schemathesis.Config:
        target = self.target
        return schemathesis.Config.from_dict(
            {
                "base-url": target.url,
                "seed": self.seed,
                "workers": 1,
                "continue-on-failure": True,
                "request-timeout": target.timeout,
                "max-redirects": 0,
                # An explicit path: otherwise requests reads one from the environment.
                "tls-verify": False if target.insecure else target.cacert or requests.utils.DEFAULT_CA_BUNDLE_PATH,
                # Honors Retry-After.
                "rate-limit": "auto",
                "headers": {
                    **IDENTITY,
                    **target.extra,
                    **(target.credentials(target.key) if target.key_header else {}),
                },
                # Runs must not depend on earlier ones.
                "cache": {"enabled": False},
                # Streams are read to their end, which is required; the default is 20 events.
                "max-stream-events": 1_000_000,
                "auth": {"openapi": {"BearerAuth": {"bearer": target.key}}}
                if target.key and not target.key_header
                else {},
                "generation": {
                    "mode": "all",
                    "max-examples": self.max_examples,
                    "database": "none",
                    # The check ignored_auth covers missing and wrong keys. With generated keys, most invalid requests
                    # would be refused before their bodies are validated.
                    "with-security-parameters": False,
                },
                "phases": {phase: {"enabled": phase in self.phases} for phase in PHASES},
                # All checks but max_response_time, which measures the machine.
                "checks": {
                    # The default also accepts 401, 404, 409, 429 and 5xx for valid requests.
                    "positive_data_acceptance": {"expected-statuses": ["2xx"]},
                    # Any 4xx: status_code_conformance checks that the status is documented.
                    "negative_data_rejection": {"expected-statuses": ["4xx"]},
                    **{name: {"enabled": False} for name in {*self.without} - self._own_checks},
                },
                # Otherwise `curl` shows "[Filtered]" for every field with "token" in its name.
                "output": {"sanitization": {"enabled": False}},
                # The speed of data generation isn't under test.
                "suppress-health-check": ["too_slow"],
                **({"max-time": max(1, math.ceil(self.max_time))} if self.max_time is not None else {}),
            }
        )

    def _record(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.ScenarioFinished):
            _record_scenario(
                event.phase.value, event.recorder, self.report, self.target.url, self.dialect, self._served
            )
            if self.on_exchange is not None:
                for id, interaction in event.recorder.interactions.items():
                    endpoint = endpoint_of(event.recorder.cases[id].value)
                    self.on_exchange(exchange_of(interaction, endpoint, self.target.url, self.report.count()))
        elif isinstance(event, events.NonFatalError) and isinstance(event.value, NoLinksFound):
            pass  # the selected operations have no links
        elif isinstance(event, events.NonFatalError):
            is_unanswered = isinstance(event.value, requests.RequestException | ServerUnavailable)
            problems = self.report.unanswered if is_unanswered else self.report.errors
            problems.append(
                (event.label, f"{_innermost_message(event.value)}  {event.info.code_sample or ''}".rstrip())
            )
        elif isinstance(event, events.FatalError):
            raise event.exception
        elif isinstance(event, events.Interrupted) and not (self._stopped or self._complete):
            raise KeyboardInterrupt
        elif isinstance(event, events.PhaseStarted):
            self._phase_begun = time.monotonic()
        elif isinstance(event, events.PhaseFinished) and self.max_time is not None:
            self._finish_phase(event.phase.name, self._begun + self.max_time)
        elif isinstance(event, events.EngineFinished) and not self._complete and event.stop_reason in ENDED:
            self.report.ended = ENDED[event.stop_reason]

    def _finish_phase(self, phase: PhaseName, end: float) -> None:
        """Stops a run that completed all phases before its time limit, since the engine would repeat the last ones.
        Schemathesis 4.32.5 reserves time for later phases and doesn't report that it cut one short; a phase that took
        less than its share wasn't cut short."""
        now = time.monotonic()
        if now - self._phase_begun >= (end - self._phase_begun) / len(PHASES):
            self._cut_short = True
        if phase is PhaseName.STATEFUL_TESTING and now < end and not self._cut_short and self._events:
            self._complete = True
            self._events.stop()


@contextlib.contextmanager
def _without_local_constants() -> Iterator[None]:
    """Makes a seed generate the same requests in every process, if Hypothesis has what that takes.

    Hypothesis 6.170.15 also draws the constants of loaded modules outside of site-packages (`_get_local_constants` in
    its conjecture/providers.py), so that one more import changes the requests of a seed. Delete when it has a setting.
    """
    try:
        from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, CONSTANTS_CACHE, HypothesisProvider
        from hypothesis.internal.constants_ast import Constants
    except ImportError:  # another version
        yield
        return

    class SameInEveryProcess(HypothesisProvider):
        _local_constants = Constants()

    original = AVAILABLE_PROVIDERS["hypothesis"]
    CONSTANTS_CACHE.cache.clear()
    AVAILABLE_PROVIDERS["hypothesis"] = SameInEveryProcess
    try:
        yield
    finally:
        AVAILABLE_PROVIDERS["hypothesis"] = original
        CONSTANTS_CACHE.cache.clear()


@contextlib.contextmanager
def _registered(
    request_limits: RequestLimits,
    stored_ids: StoredIds,
    refused: RefusedFields,
    checks: Sequence[SchemathesisCheck],
) -> Iterator[None]:
    """Registers checks and hooks during a run: Schemathesis 4.32 only has global ones (decision 042)."""

    def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
        request_limits.apply(case)
        stored_ids.apply(case)
        case.body = refused.replaced_alike(endpoint_of(case), case.body)
        bound(kwargs)

    GLOBAL_HOOK_DISPATCHER.register_hook_with_name(before_call, "before_call")
    for check in checks:
        schemathesis.check(check)
    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(before_call)
        for check in checks:
            REGISTRY.unregister(check.__name__)


def _record_scenario(
    phase: str, recorder: ScenarioRecorder, report: FuzzReport, url: str, dialect: Dialect, models: Sequence[str]
) -> None:
    for id, node in recorder.cases.items():
        response, case = recorder.find_response(case_id=id), node.value
        report.cases[phase, case.operation.label, response.status_code if response else 0] += 1
        # Other requests were sent by checks.
        if response is not None and (id in recorder.checks or id in recorder.filtered_failures):
            exchange = exchange_of(recorder.interactions[id], endpoint_of(case), url, report.count())
            _record_kind(case, exchange, report, dialect, models)
    for id, checks in recorder.checks.items():
        operation = recorder.cases[id].value.operation
        for check in checks:
            report.checked[operation.label, check.name] += 1
            if check.status is Status.FAILURE and check.failure_info is not None:
                failure = check.failure_info.failure
                interaction = recorder.interactions[failure.case_id or id]
                endpoint = operation.definition.raw["x-endpoint"]
                report.findings.append(
                    FuzzFinding(
                        operation=operation.label,
                        check=check.name,
                        message=message_of(failure),
                        curl=check.failure_info.code_sample,
                        exchange=exchange_of(interaction, endpoint, url, report.count()).excerpt(),
                    )
                )


def _record_kind(
    case: Case[Any], exchange: Exchange, report: FuzzReport, dialect: Dialect, models: Sequence[str]
) -> None:
    """Counts a request as valid or invalid, and a valid one by its answer."""
    label = case.operation.label
    if case.meta is None or not case.meta.generation.mode.is_positive:
        report.invalid[label] += 1
        return
    if dialect.accepts(endpoint_of(case), exchange.request.body) is False:
        return  # invalid by a rule that generation doesn't use
    report.valid[label] += 1
    if exchange.status is None or has_unknown_reference(case, models):
        return
    if 200 <= exchange.status < 300:
        report.accepted[label] += 1
    elif 400 <= exchange.status < 500:
        report.refused[label] += 1
        examples = report.refusals.setdefault(label, [])
        if len(examples) < MAX_REFUSALS:
            examples.append(exchange.excerpt())


def message_of(failure: Failure) -> str:
    """Returns a failure as one line, without the schema and value that Schemathesis shows."""
    if isinstance(failure, JsonSchemaError):
        path = ".".join(map(str, failure.instance_path))
        return f"{failure.title}: {path or 'it'}: {failure.validation_message}"
    title = "" if failure.title.startswith("Custom check failed") else f"{failure.title}: "
    return title + "; ".join(line.strip() for line in failure.message.splitlines() if line.strip())


def _innermost_message(problem: Any) -> str:
    """Returns the message of the innermost error."""
    while isinstance(problem, BaseException) and problem.args:
        problem = problem.args[0]
    return str(problem) or type(problem).__name__


NO_PROXIES = {"no_proxy": "*", "NO_PROXY": "*", "NETRC": os.devnull}


@contextmanager
def without_proxies() -> Iterator[None]:
    """Hides proxies and `.netrc` of the environment from Schemathesis' sessions; Schemathesis 4.32 has no setting for
    that (decision 041)."""
    before = {name: os.environ.get(name) for name in NO_PROXIES}
    os.environ.update(NO_PROXIES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
