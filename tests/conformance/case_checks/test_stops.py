"""What a finding about stop strings and limits shows."""

import pytest
from reference_server.bench import judged
from reference_server.mutants.stopping import NeverStops, OldLimitOnly


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
