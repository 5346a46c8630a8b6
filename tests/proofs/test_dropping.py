"""Proofs that prove nothing are found."""

from types import SimpleNamespace
from typing import Any

import pytest

from proofs.conftest import Run, pytest_pyfunc_call, runs
from proofs.dropping import BrokenProof, Dropping
from proofs.fields import drop, fields


@pytest.mark.parametrize(
    ("path", "body", "rest", "times"),
    [
        ("a", {"a": 1, "b": {"a": 2}}, {"b": {"a": 2}}, 1),
        ("b.a", {"a": 1, "b": {"a": 2}}, {"a": 1, "b": {}}, 1),
        ("a[].b", {"a": [{"b": 1}, {"c": 2}, "b", {"b": None}]}, {"a": [{}, {"c": 2}, "b", {}]}, 2),
        ("a[].b[].c", {"a": [{"b": [{"c": 1}]}, {"b": "c"}]}, {"a": [{"b": [{}]}, {"b": "c"}]}, 1),
        ("a[].b", {"a": "text"}, {"a": "text"}, 0),
        ("a", {}, {}, 0),
    ],
)
def test_a_field_is_taken_out_wherever_it_is(path: str, body: Any, rest: Any, times: int) -> None:
    assert (drop(body, path), body) == (times, rest)


def test_what_is_within_a_field_without_effect_has_none() -> None:
    assert (
        fields()["chat.prediction.content[].text"].handling == fields()["chat.prediction"].handling == ("unsupported",)
    )


def run(error: Exception | None, *, drop: bool, dropped: int) -> None:
    """What becomes of a proof that raises this."""
    transport = Dropping("chat.stop")
    transport.dropped = dropped
    item: Any = SimpleNamespace(funcargs={"run": Run("chat.stop", "unary", drop, "tiny"), "transport": transport})
    hook = pytest_pyfunc_call(item)
    next(hook)
    with pytest.raises(StopIteration):
        hook.throw(error) if error else hook.send(True)


def test_a_proof_holds_with_its_field_and_fails_without() -> None:
    run(None, drop=False, dropped=0)
    run(AssertionError(), drop=True, dropped=1)


@pytest.mark.parametrize(
    ("error", "drop", "dropped", "expected"),
    [
        (AssertionError(), False, 0, AssertionError),
        (None, True, 1, BrokenProof),
        (AssertionError(), True, 0, BrokenProof),
        (KeyError(), True, 1, KeyError),
    ],
)
def test_other_ends_are_failures(error: Exception | None, drop: bool, dropped: int, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        run(error, drop=drop, dropped=dropped)


@pytest.mark.parametrize(
    ("field", "kept"), [("chat.stop", "unary streamed"), ("chat.stream", "streamed"), ("tokenize.prompt", "unary")]
)
def test_every_proof_is_dropped_once_in_make_test(field: str, kept: str) -> None:
    """And once more for each other way, which is `exhaustive`."""
    listed = list(runs(field, ways=("streamed",) if field == "chat.stream" else None))
    first, *others = kept.split()
    assert [run for run in listed if isinstance(run, Run)] == [
        Run(field, first, False, "tiny"),
        Run(field, first, True, "tiny"),
        *(Run(field, way, False, "tiny") for way in others),
    ]
    left_out = [(*run.values, *(mark.name for mark in run.marks)) for run in listed if not isinstance(run, Run)]
    assert left_out == [(Run(field, way, True, "tiny"), "exhaustive") for way in others]
