"""The search, on pipelines whose figures are known and by a clock of its own."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.tuning.figures import Figures
from specvino.engine.openvino.tuning.search import Candidate, Failure, Machine, OtherLoad, Row, Search, candidates

DEFAULTS = PipelineOptions()
BF16 = Candidate("precision", plugin_config={"INFERENCE_PRECISION_HINT": "bf16"})
LONG, LONGER = Candidate("step", 512), Candidate("step", 1024)
ALL = [BF16, LONG, LONGER]

Speeds = Callable[[PipelineOptions], float]


class Pipelines:
    """Each is as fast as `speeds` says; a measurement takes a second."""

    def __init__(self, speeds: Speeds) -> None:
        self.speeds = speeds
        self.now = 0.0
        self.asked: list[PipelineOptions] = []

    def load(self, options: PipelineOptions) -> "Pipeline":
        if options.max_num_batched_tokens == 666:
            raise ModelLoadError("no")
        return Pipeline(self, options)

    def search(self, *tried: Candidate, seconds: float = 0) -> Search:
        return Search(self.load, tried, seconds, lambda: self.now)


class Pipeline:
    def __init__(self, pipelines: Pipelines, options: PipelineOptions) -> None:
        self.pipelines = pipelines
        self.options = options

    def figures(self, salt: int) -> Figures:
        self.pipelines.now += 1
        self.pipelines.asked.append(self.options)
        speed = self.pipelines.speeds(self.options)
        return Figures(100 * speed, 10 * speed, 30 * speed, 80 * speed, 5 * speed)

    def texts(self) -> list[list[int]]:
        return [[1, 2], [3, 1 if self.options.plugin_config else 0]]


def faster(**speeds: float) -> Speeds:
    """As fast as all that is faster in it, multiplied."""

    def speed(options: PipelineOptions) -> float:
        precise = speeds.get("bf16", 1) if options.plugin_config else 1
        return precise * speeds.get(f"step_{options.max_num_batched_tokens}", 1)

    return speed


def test_what_is_clearly_better_is_chosen_together() -> None:
    search = Pipelines(faster(bf16=1.5, step_512=1.1, step_1024=1.2)).search(*ALL)
    rows = list(search.rows())
    assert [round(row.ratio.mean, 3) for row in rows if isinstance(row, Row)] == [1, 1.5, 1.1, 1.2, 1.8, 1.8]
    assert search.chosen == PipelineOptions(1024, {"INFERENCE_PRECISION_HINT": "bf16"})


def test_what_is_hardly_better_is_not_chosen() -> None:
    search = Pipelines(faster(bf16=1.04, step_512=0.5)).search(*ALL)
    list(search.rows())
    assert search.chosen == DEFAULTS


@pytest.mark.parametrize(("again", "chosen"), [(1.08, DEFAULTS), (1.01, LONG.applied(DEFAULTS))])
def test_what_the_defaults_differ_from_themselves_is_no_reason(again: float, chosen: PipelineOptions) -> None:
    # Of the defaults, of the defaults once more, and of a step of 512, twice if it is the best.
    speeds = iter([1.0, again, 1.1, 1.1])

    def load(options: PipelineOptions) -> Pipeline:
        speed = next(speeds)
        return Pipeline(Pipelines(lambda _: speed), options)

    search = Search(load, [LONG], 0, lambda: 0.0)
    list(search.rows())
    assert search.chosen == chosen


def test_what_is_worse_together_is_chosen_alone() -> None:
    def speeds(options: PipelineOptions) -> float:
        long = options.max_num_batched_tokens == 512
        return (0.9 if long else 1.5) if options.plugin_config else 1.1 if long else 1

    search = Pipelines(speeds).search(BF16, LONG)
    list(search.rows())
    assert search.chosen == BF16.applied(DEFAULTS)


def test_on_a_busy_machine_more_has_to_be_better() -> None:
    """The defaults differ from themselves by a fifth, so that a fifth says nothing."""
    calls = iter(range(1000))

    def speeds(options: PipelineOptions) -> float:
        if options == DEFAULTS:
            return 0.8 if next(calls) % 2 == 0 else 1.0
        return 1.1

    search = Pipelines(speeds).search(LONG)
    rows = list(search.rows())
    assert [round(row.ratio.mean, 2) for row in rows if isinstance(row, Row)] == [1.25, 1.1]
    assert search.chosen == DEFAULTS


def test_the_best_are_measured_once_more() -> None:
    """A step of 512 was lucky."""
    speeds = iter([1.0, 1.0, 1.3, 1.0])  # of the defaults, twice, and of a step of 512, twice

    def load(options: PipelineOptions) -> Pipeline:
        speed = next(speeds)
        return Pipeline(Pipelines(lambda _: speed), options)

    search = Search(load, [LONG], 0, lambda: 0.0)
    assert [row.options for row in search.rows()] == [DEFAULTS, LONG.applied(DEFAULTS), LONG.applied(DEFAULTS)]
    assert (search.chosen, search.reason, search.slower) == (DEFAULTS, "no faster when measured again", {})


class Uneven(Pipeline):
    """Faster in all but one figure."""

    def __init__(self, options: PipelineOptions, figure: str) -> None:
        super().__init__(Pipelines(faster(step_512=1.5)), options)
        self.figure = figure

    def figures(self, salt: int) -> Figures:
        figures = super().figures(salt)
        slower = {self.figure: getattr(figures, self.figure) / 2} if self.options != DEFAULTS else {}
        return replace(figures, **slower)


@pytest.mark.parametrize("figure", ["one", "four", "sixteen"])
def test_options_that_are_slower_with_a_number_of_answers_are_not_chosen(figure: str) -> None:
    search = Search(lambda options: Uneven(options, figure), [LONG], 0, lambda: 0.0)
    list(search.rows())
    assert (search.chosen, search.slower) == (DEFAULTS, {figure: 0.75})
    assert search.reason == "slower with some number of answers"
    assert search.again is not None
    assert search.again.options == LONG.applied(DEFAULTS)


def test_the_best_may_not_load_again() -> None:
    loads = iter(range(3))

    def load(options: PipelineOptions) -> Pipeline:
        if next(loads, None) is None:
            raise ModelLoadError("no memory")
        return Pipeline(Pipelines(faster(step_512=2)), options)

    search = Search(load, [LONG], 0, lambda: 0.0)
    list(search.rows())
    assert (search.chosen, search.reason) == (DEFAULTS, "no memory")


def test_what_the_best_cost_is_known() -> None:
    search = Search(lambda options: Uneven(options, "longest_step"), [LONG], 0, lambda: 0.0)
    list(search.rows())
    assert (search.chosen, search.reason) == (LONG.applied(DEFAULTS), "")
    assert search.slower == {"longest_step": 0.75}


class Times(NamedTuple):
    user: float
    idle: float
    iowait: float


class OwnTimes(NamedTuple):
    user: float
    system: float


def test_the_load_of_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 seconds of CPU time, this process took 50 and others 20."""
    machine = iter([Times(10, 100, 1), Times(80, 129, 2)])
    process = iter([OwnTimes(3, 1), OwnTimes(50, 4)])
    monkeypatch.setattr("psutil.cpu_times", lambda: next(machine))
    monkeypatch.setattr("psutil.Process.cpu_times", lambda _: next(process))
    assert OtherLoad().share == pytest.approx(0.2)


def test_what_cannot_be_loaded_is_said() -> None:
    search = Pipelines(faster(step_512=2)).search(Candidate("step", 666), LONG)
    assert Failure(PipelineOptions(666), "no") in list(search.rows())
    assert search.chosen == LONG.applied(DEFAULTS)


def test_the_defaults_have_to_load() -> None:
    def load(options: PipelineOptions) -> Pipeline:
        raise ModelLoadError("no such model")

    with pytest.raises(ModelLoadError, match="no such model"):
        list(Search(load, [], 0).rows())


def test_texts_are_compared() -> None:
    rows = list(Pipelines(faster()).search(LONG, BF16).rows())
    assert [(row.same_texts, row.texts) for row in rows if isinstance(row, Row)] == [(2, 2), (2, 2), (1, 2)]


def test_all_get_an_equal_part_of_the_time_and_take_turns() -> None:
    pipelines = Pipelines(faster())
    list(pipelines.search(LONG, BF16, seconds=50).rows())
    # A round is two seconds, and each of the rows has ten; what is left is for the best ones, together and once more.
    assert pipelines.now == 30
    turns = [DEFAULTS] * 10 + [DEFAULTS, LONG.applied(DEFAULTS)] * 5 + [DEFAULTS, BF16.applied(DEFAULTS)] * 5
    assert pipelines.asked == turns


def test_candidates_fit_the_machine() -> None:
    small = list(candidates(Machine("small", 2, 2, frozenset({"FP32"}))))
    assert all("INFERENCE_PRECISION_HINT" not in candidate.plugin_config for candidate in small)
    large = list(candidates(Machine("large", 8, 16, frozenset({"FP32", "BF16"}))))
    assert [
        candidate.plugin_config["INFERENCE_NUM_THREADS"] for candidate in large if candidate.subject == "threads"
    ] == [7, 8, 15]
    assert large[0] == BF16
