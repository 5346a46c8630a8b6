"""Requests are made cheap, the same way each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.fuzz.request_limits import BUDGET, HUGE, LARGE, SMALL, adjusted, limits, with_small_limit

FIELDS = {"model", "messages", "prompt", "stream", "max_tokens", "max_completion_tokens", "n", "best_of", "ignore_eos"}
MODELS = ["m", "org/m"]

prompts = st.one_of(
    st.text(),
    st.lists(st.integers(0, 999), min_size=1),
    st.lists(st.text(), min_size=1),
    st.lists(st.lists(st.integers(0, 999), min_size=1), min_size=1),
)
bodies = st.fixed_dictionaries(
    {"model": st.text(min_size=1)},
    optional={
        "prompt": prompts,
        "max_tokens": st.none() | st.integers(1, 2**31),
        "max_completion_tokens": st.none() | st.integers(1, 2**31),
        "n": st.none() | st.integers(1, 128),
        "best_of": st.none() | st.integers(1, 128),
        "stream": st.booleans(),
        "ignore_eos": st.booleans(),
        "stop": st.text(),
    },
)


def work(body):
    """The most tokens that an engine would make for a body that sets limits."""
    prompt = body.get("prompt", "")
    number = len(prompt) if isinstance(prompt, list) and not isinstance(prompt[0], int) else 1
    limit = next(body[name] for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None)
    return 0 if limit > HUGE else number * max(body.get("n") or 1, body.get("best_of") or 1) * limit


def sample(**fields):
    return [{"model": f"model-{number}", **fields} for number in range(1000)]


@given(bodies)
def test_no_request_keeps_an_engine_busy(body) -> None:
    changed = adjusted(body, "chat", FIELDS, MODELS, {})
    if limits(changed):
        assert work(changed) <= BUDGET
        assert all(changed[name] >= 1 for name in limits(changed))
    else:
        assert not changed.get("ignore_eos")
        assert work(changed | {"max_tokens": 1}) <= 1


@given(bodies)
def test_it_depends_on_the_request_alone_and_leaves_it_as_it_was(body) -> None:
    before = dict(body)
    assert adjusted(body, "chat", FIELDS, MODELS, {}) == adjusted(
        dict(reversed(body.items())), "chat", FIELDS, MODELS, {}
    )
    assert body == before


@pytest.mark.parametrize(
    ("fields", "is_changed", "expected"),
    [
        ({}, lambda body: body.get("max_completion_tokens", HUGE) <= SMALL, 900),
        ({}, lambda body: body["model"] in MODELS, 900),
        ({}, lambda body: body.get("stream") is True, 250),
        ({"previous_response_id": "resp_1"}, lambda body: "previous_response_id" in body, 100),
        ({"stream": False}, lambda body: body["stream"], 0),
        ({"max_tokens": 3}, lambda body: "max_completion_tokens" in body, 0),
        ({"max_tokens": 3000}, lambda body: body["max_tokens"] == LARGE, 1000),
        ({"max_tokens": HUGE + 1}, lambda body: body["max_tokens"] > HUGE, 1000),
        ({"max_tokens": 9, "n": 128}, lambda body: body["max_tokens"] == BUDGET // 128, 1000),
        ({"max_tokens": 9, "prompt": ["a"] * 2048}, lambda body: len(body["prompt"]) == BUDGET, 1000),
        ({"max_tokens": 9, "prompt": [7] * 2048}, lambda body: len(body["prompt"]) == 2048, 1000),
        ({"max_tokens": 9, "prompt": ["a"] * 99, "n": 99}, lambda body: body["n"] == 1, 1000),
    ],
)
def test_how_many_of_1000_change(fields, is_changed, expected) -> None:
    number = sum(map(is_changed, (adjusted(body, "chat", FIELDS, MODELS, {}) for body in sample(**fields))))
    assert number == pytest.approx(expected, abs=40 if 0 < expected < 1000 else 0)


def test_fields_that_the_operation_doesn_t_know_are_not_added() -> None:
    assert all(adjusted(body, "tokenize", {"text"}, MODELS, {}) == body for body in sample(text="a"))


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ({}, {"max_completion_tokens": SMALL}),
        ({"max_tokens": None}, {"max_tokens": None, "max_completion_tokens": SMALL}),
        ({"max_tokens": None, "max_completion_tokens": 5}, {"max_tokens": None, "max_completion_tokens": 5}),
        ({"max_tokens": 1 << 40}, {"max_tokens": LARGE}),
        ({"max_tokens": 1e9}, {"max_tokens": LARGE}),
        ({"max_tokens": 3, "max_completion_tokens": 9000}, {"max_tokens": 3, "max_completion_tokens": LARGE}),
        ({"max_tokens": -1}, {"max_tokens": -1}),
        ({"max_tokens": True}, {"max_tokens": True}),
        ({"max_tokens": "many"}, {"max_tokens": "many"}),
    ],
)
def test_an_invalid_request_has_a_small_limit_too(body, sent) -> None:
    assert with_small_limit(body, ("max_tokens", "max_completion_tokens", "model")) == sent


def test_a_nested_limit() -> None:
    fields = {"model", "options", "options.num_predict"}
    body = {"model": "m", "options": {"num_predict": 100_000, "seed": 1}}
    assert limits(body) == ["options.num_predict"]
    assert with_small_limit(body, fields)["options"] == {"num_predict": LARGE, "seed": 1}
    assert with_small_limit({"model": "m"}, fields)["options"] == {"num_predict": SMALL}
    assert with_small_limit({"options": 5}, fields) == {"options": 5}
    changed = adjusted(body, "ollama_chat", fields, MODELS, {})
    assert 1 <= changed["options"]["num_predict"] <= LARGE
    few = [adjusted(body, "ollama_chat", fields, MODELS, {}) for body in sample(options={"seed": 1})]
    assert sum(bool(limits(body)) for body in few) > 800
    assert all(body["options"]["seed"] == 1 for body in few)
