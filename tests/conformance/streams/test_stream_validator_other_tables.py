"""Where a system's streams differ from the protocol's table, what they share with it is judged all the same."""

import json

import pytest

from specvino.conformance.cases.plan import plan
from specvino.conformance.dialect import NAMES, Dialect
from specvino.conformance.streams.sse import ServerSentEvent
from specvino.conformance.streams.stream_validator import SseValidator

DONE = ServerSentEvent("[DONE]")


def judge_of(by: str, endpoint: str) -> SseValidator:
    table = Dialect(by).stream(endpoint)
    assert table is not None
    return SseValidator(table)


def violations_of(by, endpoint, *choices, head=None):
    """What is wrong with a stream of chunks, each with one choice or with what else it has."""
    sent = [
        {"id": "a", "object": "b", "model": "m", "created": 1}
        | (choice if "usage" in choice else {"choices": [choice]})
        for choice in choices
    ]
    judge = judge_of(by, endpoint)
    events = [*(ServerSentEvent(json.dumps(chunk | (head or {}))) for chunk in sent), DONE]
    return [*(violation for event in events for violation in judge.feed(event)), *judge.end()]


def delta(finish=None, index=0, **delta):
    return {"index": index, "delta": delta, "finish_reason": finish}


def text(text, finish=None, index=0):
    return {"index": index, "text": text, "finish_reason": finish}


USAGE = {"choices": [], "usage": {"total_tokens": 3}}

GOOD = {
    ("ovms", "chat"): [delta(content="a"), delta("stop", content="b"), USAGE],
    ("vllm", "chat"): [
        *(delta(role="assistant", content=""), delta(reasoning="a"), delta(content="")),
        *(delta("stop", content="b"), USAGE),
    ],
    ("vllm", "completions"): [text("a"), text(""), text("b", "stop"), USAGE],
    ("ovms", "completions"): [text(""), text("a"), text("b", "stop"), USAGE],
    ("mlc-llm", "chat"): [delta(role="assistant", content="a"), delta("stop", role="assistant"), USAGE],
    ("mlc-llm", "completions"): [text("a"), text("b", "stop"), USAGE],
    ("fastdeploy", "completions"): [text("a"), text("", "stop"), USAGE, text("c", "stop", 1), USAGE],
    ("ollama", "chat"): [delta(role="assistant", content="a"), delta(content=""), delta("stop"), USAGE],
    ("ollama", "completions"): [
        *(USAGE | {"choices": [choice]} for choice in (text(""), text("a"), text("", "stop"))),
        USAGE,
    ],
}


@pytest.mark.parametrize(("by", "endpoint"), GOOD)
def test_streams_as_a_system_sends_them_are_accused_of_nothing(by, endpoint) -> None:
    assert violations_of(by, endpoint, *GOOD[by, endpoint]) == []
    assert violations_of("specvino", endpoint, *GOOD[by, endpoint]) != []


def test_every_chunk_of_one_system_has_a_time_of_its_own() -> None:
    judge = judge_of("mlc-llm", "chat")
    events = [delta(role="assistant", content="a"), delta("stop", role="assistant")]
    sent = [{"id": "a", "created": number, "choices": [event]} for number, event in enumerate(events)]
    assert not [violation for one in sent for violation in judge.feed(ServerSentEvent(json.dumps(one)))]
    sent[1]["id"] = "b"
    judge = judge_of("mlc-llm", "chat")
    assert [violation for one in sent for violation in judge.feed(ServerSentEvent(json.dumps(one)))]


def test_each_choice_of_one_system_has_an_id_of_its_own() -> None:
    events = [delta(role="assistant"), delta(role="assistant", index=1), delta("stop"), delta("stop", index=1)]
    sent = [{"id": str(event["index"]), "created": 1, "choices": [event]} for event in events]
    violations = {}
    for by in ("sglang", "vllm"):
        judge = judge_of(by, "chat")
        violations[by] = [violation for one in sent for violation in judge.feed(ServerSentEvent(json.dumps(one)))]
    assert violations["sglang"] == []
    assert violations["vllm"] != []


def test_reasoning_is_a_fact_by_whichever_name_a_system_has_for_it() -> None:
    opened = delta(role="assistant", content="")
    for by, name in (("vllm", "reasoning"), ("llama-cpp", "reasoning_content"), ("specvino", "reasoning")):
        assert violations_of(by, "chat", opened, delta(**{name: "a"}), delta("stop"), USAGE) == []
        assert violations_of(by, "chat", opened, delta("stop"), delta(**{name: "a"}), USAGE) != []


BAD = {
    "two finishes": lambda one: [one("a"), one("b", "stop"), one("", "stop")],
    "something after the finish": lambda one: [one("a", "stop"), one("b")],
    "no finish": lambda one: [one("a")],
    "a gap in the indexes": lambda one: [one("a", "stop"), one("a", "stop", 2)],
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
@pytest.mark.parametrize("by", NAMES)
def test_what_holds_everywhere_is_judged_everywhere(by, endpoint, bad) -> None:
    if by == "specvino" or endpoint not in Dialect(by).operations:
        return

    def one(content, finish=None, index=0):
        if endpoint == "completions":
            return text(content, finish, index)
        return delta(finish, index, **({"content": content} if content else {}))

    events = BAD[bad](one)
    opened = [delta(index=index, role="assistant") for index in sorted({event["index"] for event in events})]
    good = [*BAD["no finish"](one), one("", "stop")]
    first = opened if endpoint == "chat" else []
    assert not violations_of(by, endpoint, *first[:1], *good)
    assert violations_of(by, endpoint, *first, *events)


@pytest.mark.parametrize("by", NAMES)
def test_the_terminator_is_judged_everywhere(by) -> None:
    for endpoint in {"chat", "completions"} & Dialect(by).operations.keys():
        judge = judge_of(by, endpoint)
        assert [value for value in judge.end() if "doesn't end with [DONE]" in value]


def test_what_is_not_judged_is_told() -> None:
    left = plan(Dialect("mlc-llm"), profile="core", layers=("cases",), filters=("chat",)).left_out
    rules = {rule.rsplit("/", 1)[1] for rule in left if rule.startswith("chat/rules/stream-order/")}
    assert rules == {"choice.open", "one fact", "constant.created"}
    assert "responses/rules/stream-order" in plan(Dialect("ovms"), profile="core", layers=("cases",)).left_out
