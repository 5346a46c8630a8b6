"""What a finding about stop strings and limits shows."""

import pytest
from reference_server.bench import judged
from reference_server.chat import Chat
from reference_server.mutants.requests import RequiresLimit
from reference_server.mutants.stopping import NeverStops, OldLimitOnly
from reference_server.mutants.transport import RefusesInStreams

from specvino.conformance.verdict import Verdict


@pytest.mark.parametrize(
    ("mutant", "rule", "field"),
    [
        (NeverStops, "chat/stop/string", "stop"),
        (NeverStops, "chat/stop/streamed", "stop"),
        (OldLimitOnly, "chat/limits/max-completion-tokens", "max_completion_tokens"),
    ],
)
def test_only_the_answer_that_ignores_the_field_is_shown(mutant, rule, field) -> None:
    (finding,) = judged(mutant, only={rule})[rule].findings
    (exchange,) = finding.exchanges
    assert field in exchange.request.body


def test_a_limit_that_is_required_in_a_stream_is_no_option() -> None:
    rules = {"chat/limits/none", "completions/settings/no-limit", "responses/basics/no-limit"}
    results = judged(RequiresLimit, RefusesInStreams, only=rules)
    assert {rule: results[rule].verdict for rule in rules} == dict.fromkeys(rules, Verdict.FAIL)


class ThinksInStreams(Chat):
    """Only streams have the reasoning."""

    def chat_events(self, *arguments):
        for event in super().chat_events(*arguments):
            for choice in event["choices"]:
                thought = {"reasoning_content": "Hm."} if "role" in choice["delta"] else {}
                choice["delta"] = {**choice["delta"], **thought}
            yield event


def test_reasoning_that_only_streams_have_is_no_effect_of_a_stop_string() -> None:
    rule = "chat/stop/streamed-half-met"
    assert judged(ThinksInStreams, only={rule})[rule].verdict is Verdict.PASS


class NoErrorInChunks(Chat):
    """Each chunk has `error`, which is null."""

    def chat_events(self, *arguments):
        for event in super().chat_events(*arguments):
            yield {**event, "error": None}


def test_an_error_that_is_null_is_no_refusal() -> None:
    assert judged(NoErrorInChunks, only={"chat/limits/none"})["chat/limits/none"].verdict is Verdict.PASS
