"""Adapts Schemathesis to ours: cases and responses to exchanges, and our checks to its check functions."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from schemathesis import Case, CheckContext, Response
from schemathesis.engine.recorder import Interaction

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.answer_checks import AnswerChecks, json_of
from specvino.conformance.http.exchange import Ended, Exchange, Request

# A check function of Schemathesis. It returns True if there is nothing to check.
SchemathesisCheck = Callable[[CheckContext, Response, Case[Any]], bool | None]


def checks_for(dialect: Dialect) -> tuple[SchemathesisCheck, ...]:
    """Returns our additional checks as Schemathesis check functions, for the document of the dialect."""
    checks = AnswerChecks(dialect)

    def error_code_conformance(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        if response.status_code < 400:
            return True
        _require_none(checks.error_code_conformance(current_exchange(response, case)))
        return None

    def stream_conformance(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        exchange = current_exchange(response, case)
        if not exchange.is_stream or dialect.stream(endpoint_of(case)) is None:
            return True
        _require_none(checks.stream_conformance(exchange))
        return None

    def second_judge(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        exchange = current_exchange(response, case)
        violations = checks.second_judge(exchange)
        if violations is None:
            return True
        _require_none(violations)
        return None

    own = (error_code_conformance,) if dialect.lists_error_codes else ()
    return (*own, stream_conformance, second_judge)


def _require_none(violations: Iterable[str]) -> None:
    """Raises AssertionError with the violations, if any: a failure of a Schemathesis check."""
    messages = list(violations)
    assert not messages, "\n".join(messages)


def endpoint_of(case: Case[Any]) -> str:
    return str(case.operation.definition.raw["x-endpoint"])


def current_exchange(response: Response, case: Case[Any]) -> Exchange:
    """Returns the exchange of a case with a new answer. Its path is relative to the server's root."""
    parts = urlsplit(str(response.request.url))
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    request = Request(endpoint_of(case), str(response.request.method), path, {}, None)
    headers = {name.lower(): values[0] for name, values in response.headers.items()}
    ended: Ended = "too slow" if response.stream_cut_short else "complete"
    return Exchange(0, request, response.status_code, headers, response.content, ended, response.elapsed)


def exchange_of(interaction: Interaction, endpoint: str, base_url: str, number: int) -> Exchange:
    """Returns the exchange of a recorded interaction. `number` is the number of requests before it."""
    sent, answer = interaction.request, interaction.response
    parts = urlsplit(sent.uri)
    path = parts.path.removeprefix(urlsplit(base_url).path.rstrip("/")) + (f"?{parts.query}" if parts.query else "")
    headers = {name.lower(): values[0] for name, values in sent.headers.items()}
    request = Request(endpoint, sent.method, path, headers, sent.body, json_of(sent.body))
    if answer is None:
        return Exchange(
            number, request, None, {}, b"", "cut off", 0.0, problem="no answer came", began=interaction.timestamp
        )
    return Exchange(
        number,
        request,
        answer.status_code,
        {name.lower(): values[0] for name, values in answer.headers.items()},
        answer.content,
        "too slow" if answer.stream_cut_short else "complete",
        answer.elapsed,
        began=interaction.timestamp,
    )
