"""The profiles of client programs, and the verdicts on right and wrong servers."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
from reference_server.bench import KEY, MODEL
from reference_server.mutants import agent_tools, tools
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.server import ReferenceServer
from support.asgi import answering

from specvino.conformance import CannotRun, Readiness, Report, Settings, readiness, run_async
from specvino.conformance.cases.plan import matches
from specvino.conformance.clients.profile import all_clients
from specvino.conformance.endpoints import paths
from specvino.conformance.reports.readiness import outcomes
from specvino.conformance.rule_catalog import all_rules

CLIENTS = all_clients()
PAGE = Path(__file__).parents[3] / "docs" / "conformance.md"


def judged(client: str, *mutants: type[Part]) -> Report:
    async def beside_it() -> Report:
        async with answering(ReferenceServer(*mutants, OpenAIResponses, key=KEY, model=MODEL)) as url:
            return await run_async(Settings(url, client=client, key=KEY))

    return asyncio.run(beside_it())


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_what_a_client_relies_on_exists(client) -> None:
    assert [rule for rule in client.rules if not any(matches(known, [rule]) for known in all_rules())] == []
    assert {request.endpoint for request in client.requests} <= paths().keys()
    rules = [client.rule_of(request) for request in client.requests]
    assert len(set(rules)) == len(rules)
    assert not all(request.optional for request in client.requests)


def test_the_page_lists_all() -> None:
    listed = PAGE.read_text("utf-8").partition("The clients are ")[2].partition(".\n")[0]
    assert re.findall("`([a-z-]+)`", listed) == [*CLIENTS]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_right_server_is_ready(client) -> None:
    report = judged(client)
    assert [outcome.reasons for outcome in outcomes(report) if outcome.reasons] == []
    assert (readiness(report), report.exit_code) == (Readiness.READY, 0)


def test_a_server_without_what_a_client_uses_is_limited() -> None:
    report = judged("codex", agent_tools.NamespacesDropped)
    assert (readiness(report), report.exit_code) == (Readiness.LIMITED, 0)
    broken = [outcome for outcome in outcomes(report) if outcome.broken]
    assert [outcome.reliance.because for outcome in broken] == ["The tools of each MCP server are in a namespace."]
    assert not broken[0].needed


def test_a_server_without_what_a_client_needs_is_not_ready() -> None:
    report = judged("smolagents", tools.CallsAsText)
    assert (readiness(report), report.exit_code) == (Readiness.NOT_READY, 1)
    assert {outcome.reliance.because for outcome in outcomes(report) if outcome.broken and outcome.needed} == {
        "ToolCallingAgent requires a call in each step."
    }


def test_a_dialect_without_the_endpoint_of_a_client() -> None:
    job = Settings("http://localhost/v1", client="codex", dialect="mlc-llm").job()
    with pytest.raises(CannotRun, match="Codex CLI uses /responses, which the dialect mlc-llm doesn't have"):
        job.plan()


def test_a_client_excludes_what_selects_rules() -> None:
    codex = Settings("http://localhost/v1", client="codex")
    for settings in (replace(codex, filters=("chat",)), replace(codex, layers=("fuzz",))):
        with pytest.raises(CannotRun, match="--client selects the rules"):
            settings.job()
    with pytest.raises(CannotRun, match=r"'nobody' is unknown; the clients are .*codex"):
        Settings("http://localhost/v1", client="nobody").job()
