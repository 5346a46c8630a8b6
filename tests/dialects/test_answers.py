"""The document of each system finds the system's own answers valid, and the judge finds nothing wrong in them."""

import pytest
from dialects.recorded import FOLDER, SYSTEMS, Answer, answers, dialect
from jsonschema_rs import Draft202012Validator

from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules import RULES
from specvino.conformance.rules.rule import Rule
from specvino.document.loading import systems
from specvino.document.operations import JSON

KEYS = {
    "type": "object",
    "properties": {
        "request": {"type": "object"},
        "valid": {"const": False},
        "status": {"type": "integer"},
        "media": {"type": "string"},
        "body": {},
        "stream": {"type": "string"},
        "text": {"type": "string"},
        "unjudged": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "additionalProperties": False,
}

every_answer = pytest.mark.parametrize("answer", answers(), ids=str)


def test_each_is_written_as_the_readme_says() -> None:
    validator = Draft202012Validator(KEYS)
    for answer in answers():
        assert not list(validator.iter_errors(answer.said)), answer
        assert len(answer.said.keys() & {"body", "stream", "text"}) <= 1, answer


@every_answer
def test_the_request_is_judged_as_the_system_does(answer: Answer) -> None:
    if answer.operation.body is None:
        return
    violations = list(dialect(answer.system).validator(answer.operation.body).violations(answer.request))
    assert violations == [] if answer.said.get("valid", True) else violations


@every_answer
def test_the_answer_is_documented(answer: Answer) -> None:
    """Its status, its media type, and every word of its body."""
    judge = dialect(answer.system)
    content = answer.operation.content(str(answer.status))
    assert answer.status in judge.documented_statuses(answer.endpoint)
    if "media-type" not in answer.said.get("unjudged", ()):
        assert answer.media in content if answer.media else not content
    if answer.media == JSON:
        shape = judge.answer(answer.endpoint, answer.status, JSON)
        assert shape is not None
        assert list(shape.violations(answer.exchange.json)) == []


@every_answer
def test_no_rule_accuses_it(answer: Answer) -> None:
    """Events are valid and in their order, and numbers add up."""
    rules = [rule(dialect(answer.system)) for rule in RULES]
    unjudged, exchange = answer.said.get("unjudged", ()), answer.exchange
    found = {rule.name: violations(rule, exchange) for rule in rules if rule.name not in unjudged}
    assert {name: each for name, each in found.items() if each} == {}


def violations(rule: Rule, exchange: Exchange) -> list[str]:
    try:
        return list(rule.violations(exchange)) if rule.applies(exchange) else []
    except Unreadable:
        return []  # a stream that fails adds up to no answer


@pytest.mark.parametrize("answer", [each for each in answers() if "unjudged" in each.said], ids=str)
def test_what_is_not_judged_would_be_accused(answer: Answer) -> None:
    rules = {rule.name: rule for rule in (make(dialect(answer.system)) for make in RULES)}
    for name in answer.said["unjudged"].keys() & rules.keys():
        assert violations(rules[name], answer.exchange), name


def test_every_system_has_answers() -> None:
    assert systems() == SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_endpoint_has_answers(system: str) -> None:
    assert {path.stem for path in (FOLDER / system).glob("*.yaml")} == dialect(system).operations.keys()
