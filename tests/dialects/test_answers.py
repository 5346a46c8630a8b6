"""The document of each system finds the system's own answers valid, and the judge finds nothing wrong in them."""

import json
from functools import cache

import pytest

from dialects.recorded import FOLDER, Answer, answers
from specvino.conformance.dialect import Dialect
from specvino.conformance.rules import RULES
from specvino.document.loading import systems
from specvino.document.operations import JSON

dialect = cache(Dialect)


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_the_request_is_judged_as_the_system_does(answer: Answer) -> None:
    operation = dialect(answer.system).operations[answer.endpoint]
    if operation.body is not None:
        violations = list(dialect(answer.system).shape(operation.body).violations(answer.request))
        assert not violations if answer.is_valid else violations


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_the_answer_is_documented(answer: Answer) -> None:
    """Its status, its media type, and every word of its body."""
    judge, exchange = dialect(answer.system), answer.exchange(dialect(answer.system))
    content = judge.operations[answer.endpoint].content(str(answer.status))
    assert answer.status in judge.documented(answer.endpoint)
    assert {exchange.media} - {""} <= content.keys()
    assert exchange.content or JSON not in content
    if exchange.media == JSON:
        shape = judge.answer(answer.endpoint, answer.status, JSON)
        assert shape is not None
        assert list(shape.violations(exchange.json)) == []


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_no_rule_accuses_it(answer: Answer) -> None:
    judge, exchange = dialect(answer.system), answer.exchange(dialect(answer.system))
    rules = [rule(judge) for rule in RULES]
    # A system's own faults are faults: the rule against them is for those who choose their statuses.
    found = {
        rule.name: list(rule.violations(exchange))
        for rule in rules
        if rule.name != "no-server-error" and rule.applies(exchange)
    }
    assert {name: violations for name, violations in found.items() if violations} == {}


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_a_stream_comes_to_its_end(answer: Answer) -> None:
    exchange = answer.exchange(dialect(answer.system))
    if exchange.is_stream:
        assert exchange.events
        assert all(json.loads(event.data) for event in exchange.events if not event.data.startswith("["))


@pytest.mark.parametrize("system", systems())
def test_each_endpoint_has_an_answer(system: str) -> None:
    """The service OpenAI has answers where its servers of one's own have: nobody can derive the rest."""
    assert {path.stem for path in (FOLDER / system).glob("*.yaml")} == dialect(system).operations.keys()
