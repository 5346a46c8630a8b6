"""Where a dialect's system is answered otherwise than it answers itself."""

import pytest

from specvino.codegen.lint import lint

RULE = {"cases": 1, "reason": "It is better so."}


@pytest.fixture
def rules(spec):
    return spec.dialects["vllm"].setdefault("differences", {})


def test_a_rule(spec, rules) -> None:
    rules["null-is-absent"] = RULE
    assert lint(spec) == []


def test_too_many(rules, only) -> None:
    rules.update({f"rule-{number}": RULE for number in range(21)})
    only("differences", "vllm", "has 21 differences, but may have 20")


def test_a_name(rules, only) -> None:
    rules["Null is absent"] = RULE
    only("differences", "vllm Null is absent", "small letters")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"cases": 1}, "must have cases, reason"),
        (RULE | {"because": "It is."}, "must have cases, reason"),
        (RULE | {"cases": 0}, "cases must be given, as int"),
        (RULE | {"cases": True}, "cases must be given, as int"),
        (RULE | {"reason": ""}, "reason must be given, as str"),
    ],
)
def test_an_entry(rules, only, entry, words) -> None:
    rules["null-is-absent"] = entry
    only("differences", "vllm null-is-absent", words)
