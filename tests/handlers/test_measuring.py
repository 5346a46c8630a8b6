"""What is measured of a generation, by a clock that the test sets."""

import asyncio
from collections.abc import Sequence

import pytest

from specvino.engine.request import GenerationRequest, Sampling, TextPrompt
from specvino.engine.segments import (
    Finish,
    Phases,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated.errors import ErrorCode
from specvino.handlers import measuring
from specvino.handlers.errors import ApiError
from specvino.handlers.measuring import GenerationRecord, Measured

SAMPLING = Sampling(
    max_tokens=9,
    temperature=0.5,
    top_p=0.75,
    top_k=-1,
    frequency_penalty=0,
    presence_penalty=0,
    repetition_penalty=1,
)


class RecordingObserver:
    """An observer that records its calls."""

    def __init__(self) -> None:
        self.first: list[float] = []
        self.later: list[float] = []
        self.records: list[GenerationRecord] = []

    def first_token(self, seconds: float) -> None:
        self.first.append(seconds)

    def later_token(self, seconds: float) -> None:
        self.later.append(seconds)

    def ended(self, record: GenerationRecord) -> None:
        self.records.append(record)


@pytest.fixture
def observer() -> RecordingObserver:
    return RecordingObserver()


@pytest.fixture
def measure(monkeypatch, observer):
    """Feeds segments, each with the time at which it comes, on a clock that began at 100; then raises `error`."""

    def measured(
        segments: Sequence[tuple[float, Segment]], error: BaseException | None = None, n: int = 1, prompts: int = 1
    ) -> dict[str, object]:
        now = [100.0]
        monkeypatch.setattr(measuring, "perf_counter", lambda: now[0])
        notes: dict[str, object] = {}
        request = GenerationRequest((TextPrompt("secret"),) * prompts, SAMPLING, n=n)
        measured = Measured(request, 100.0, notes, (observer, observer))
        with measured.ending():
            for time, segment in segments:
                now[0] = 100.0 + time
                measured.feed(segment)
            if error is not None:
                raise error
        return notes

    return measured


def test_times_are_between_what_is_shown(observer, measure) -> None:
    notes = measure(
        [
            (1, Started(3)),
            (1, PromptText(0, "secret")),
            (2, ReasoningDelta(0, "secret")),
            (2.25, TextDelta(0, "secret")),
            (3, TextDelta(0, "secret")),
            (4, Finish(0, "stop")),
            (5, Usage(4, 5, 2, Phases(0.5, 1, 2))),
        ]
    )
    assert observer.first == [2, 2], "each observer is called"
    assert observer.later == [0.25, 0.25, 0.75, 0.75]
    (record, same) = observer.records
    assert record is same
    assert notes == {"generation": record}
    assert record == GenerationRecord(
        n=1,
        choices=1,
        max_tokens=9,
        temperature=0.5,
        top_p=0.75,
        prompt_tokens=4,
        completion_tokens=5,
        reasoning_tokens=2,
        first_token=2,
        last_token=3,
        ended=5,
        outcomes=["stop"],
        phases=Phases(0.5, 1, 2),
    )
    assert record.per_output_token == 0.25
    assert "secret" not in repr(record)


def test_choices_don_t_count_for_each_other(observer, measure) -> None:
    measure(
        [
            (0, Started(3)),
            (1, TextDelta(0, "a")),
            (2, TextDelta(1, "a")),
            (3, TextDelta(0, "a")),
            (5, TextDelta(1, "a")),
            (5, Finish(0, "length")),
            (5, Finish(1, "stop")),
            (5, Usage(3, 4)),
        ],
        n=2,
    )
    assert observer.first == [1, 1]
    assert observer.later == [2, 2, 3, 3]
    record = observer.records[0]
    assert record.choices == 2
    assert record.outcomes == ["length", "stop"]
    assert record.per_output_token == 4


def test_calls_are_a_stop_as_in_vllm(observer, measure) -> None:
    calls = [ToolCallStart(0, 0, "f"), ToolCallArguments(0, 0, "{}"), ToolCallEnd(0, 0, True)]
    measure([(0, Started(3)), *((1, call) for call in calls), (1, Finish(0, "tool_calls")), (1, Usage(3, 1))])
    record = observer.records[0]
    assert record.outcomes == ["stop"]
    assert record.tool_calls == 1
    assert record.per_output_token is None, "one token has no next one"


@pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError()])
def test_a_client_that_left_is_an_abort(observer, measure, error) -> None:
    with pytest.raises(type(error)):
        measure([(0, Started(3)), (1, TextDelta(0, "a")), (2, Finish(0, "stop"))], error, n=2, prompts=2)
    record = observer.records[0]
    assert (record.n, record.choices) == (2, 4)
    assert record.outcomes == ["stop", "abort", "abort", "abort"]
    assert record.error is None
    assert record.completion_tokens is None
    assert record.per_output_token is None


@pytest.mark.parametrize(
    ("error", "code"),
    [(ApiError(ErrorCode.ENGINE_RESTARTED, "lost"), "engine_restarted"), (RuntimeError("secret"), "internal_error")],
)
def test_an_error_has_its_code(observer, measure, error, code) -> None:
    with pytest.raises(type(error)):
        measure([(0, Started(3))], error)
    record = observer.records[0]
    assert record.outcomes == ["error"]
    assert record.error == code
    assert record.first_token is None


def test_what_was_not_admitted_is_no_generation(observer, measure) -> None:
    with pytest.raises(ApiError):
        measure([], ApiError(ErrorCode.INVALID_PROMPT, "no"))
    assert observer.records == []
