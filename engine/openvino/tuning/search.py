"""The search for the fastest options: each candidate is compared with the defaults, then all clearly better ones
together, and the best once more.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

import openvino
import psutil

from specvino.engine.errors import ModelLoadError
from specvino.engine.openvino.messages.options import PipelineOptions, PluginValue
from specvino.engine.openvino.tuning.figures import Figures, best


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties of a machine that decide which options can help. `precisions` are those that its cores support,
    under OpenVINO's names."""

    name: str
    cores: int
    threads: int
    precisions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change of the options. At most one with the same `subject` is chosen."""

    subject: str
    max_num_batched_tokens: int | None = None
    plugin_config: dict[str, PluginValue] = field(default_factory=dict)

    def applied(self, options: PipelineOptions) -> PipelineOptions:
        if self.max_num_batched_tokens is not None:
            options = replace(options, max_num_batched_tokens=self.max_num_batched_tokens)
        return replace(options, plugin_config={**options.plugin_config, **self.plugin_config})


class OtherLoad:
    """The CPU time of other programs since it was created."""

    def __init__(self) -> None:
        self._begun = self._times()

    @property
    def share(self) -> float:
        """Returns their share of the machine's CPU time, from 0 to 1."""
        others, idle, own = (now - then for now, then in zip(self._times(), self._begun, strict=True))
        return max(0.0, others - own) / max(others + idle, 0.01)

    @staticmethod
    def _times() -> tuple[float, float, float]:
        """Returns the seconds in which all programs ran, in which none ran, and in which this process ran."""
        machine, process = psutil.cpu_times(), psutil.Process().cpu_times()
        idle = machine.idle + getattr(machine, "iowait", 0.0)
        # The time of guests is a part of user and nice.
        guests = getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)
        return sum(machine) - idle - guests, idle, process.user + process.system


def this_machine() -> Machine:
    core = openvino.Core()
    return Machine(
        core.get_property("CPU", "FULL_DEVICE_NAME"),
        psutil.cpu_count(logical=False) or 1,
        psutil.cpu_count() or 1,
        frozenset(core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")),
    )


def candidates(machine: Machine) -> Iterator[Candidate]:
    """Yields the changes to try, the most promising first."""
    if "BF16" in machine.precisions:
        yield Candidate("precision", plugin_config={"INFERENCE_PRECISION_HINT": "bf16"})
    for tokens in (512, 1024, 128):
        yield Candidate("step", tokens)
    for threads in sorted({machine.cores, machine.cores - 1, machine.threads - 1} - {machine.threads, 0}):
        yield Candidate("threads", plugin_config={"INFERENCE_NUM_THREADS": threads})
    yield Candidate("pinning", plugin_config={"ENABLE_CPU_PINNING": False})
    yield Candidate("quantization", plugin_config={"DYNAMIC_QUANTIZATION_GROUP_SIZE": 128})


# A smaller gain isn't worth an option, nor is one below this multiple of the difference between two measurements of the
# defaults.
_CLEAR = 1.05
_TIMES_NOISE = 2

_ROUNDS = 2  # at least


class Pipeline(Protocol):
    """A pipeline that can be measured."""

    def figures(self, salt: int) -> Figures: ...

    def texts(self) -> list[list[int]]: ...


@dataclass(frozen=True, slots=True)
class Row:
    """The speed of options relative to the defaults, and how many of their texts are the same."""

    options: PipelineOptions
    ratio: Figures
    same_texts: int
    texts: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Options that can't be loaded, and the reason."""

    options: PipelineOptions
    reason: str


# Nobody knows how many answers a server will generate at a time: options that are slower for one of these numbers
# aren't chosen. What else is slower is a cost.
_ANSWERS = ("one", "four", "sixteen")


class Search:
    """Measures candidates, each for an equal part of `seconds`. `load` returns a pipeline, of which there are two at a
    time; it raises ModelLoadError. When `rows` is exhausted, `chosen` are the best options. `again` is their second
    measurement, and `slower` are the figures in which they were clearly slower than the defaults. If that speaks
    against them, `reason` says so, and the defaults are chosen."""

    def __init__(
        self,
        load: Callable[[PipelineOptions], Pipeline],
        candidates: Sequence[Candidate],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.chosen = PipelineOptions()
        self.again: Row | Failure | None = None
        self.slower: dict[str, float] = {}
        self.reason = ""
        self._load = load
        self._candidates = candidates
        self._share = seconds / (len(candidates) + 3)
        self._clock = clock
        self._salt = 0

    def rows(self) -> Iterator[Row | Failure]:
        """Yields the default options first, compared with themselves, which shows the accuracy of the figures."""
        default = PipelineOptions()
        baseline = self._load(default)
        texts = baseline.texts()
        again = self._measure(baseline, texts, default)
        yield again
        clear = self._clear(again)
        better: dict[str, tuple[float, Candidate]] = {}
        for candidate in self._candidates:
            row = self._tried(baseline, texts, candidate.applied(default))
            yield row
            if isinstance(row, Row) and row.ratio.mean > max(clear, better.get(candidate.subject, (0.0,))[0]):
                better[candidate.subject] = row.ratio.mean, candidate
        if not better:
            return
        alone, first = max(better.values(), key=lambda pair: pair[0])
        self.chosen = first.applied(default)
        if len(better) > 1:
            together = default
            for _, candidate in better.values():
                together = candidate.applied(together)
            row = self._tried(baseline, texts, together)
            yield row
            if isinstance(row, Row) and row.ratio.mean > alone:
                self.chosen = together
        # The best of several is partly the luckiest of them: a measurement of its own tells.
        self.again = row = self._tried(baseline, texts, self.chosen)
        yield row
        if isinstance(row, Failure):
            self.reason = row.reason
        else:
            least = 1 / max(_CLEAR, math.exp(_TIMES_NOISE * max(abs(math.log(figure)) for figure in again.ratio.all())))
            self.slower = {name: ratio for name, ratio in asdict(row.ratio).items() if ratio < least}
            if not self.slower.keys().isdisjoint(_ANSWERS):
                self.reason = "slower with some number of answers"
            elif row.ratio.mean <= clear:
                self.reason = "no faster when measured again"
        if self.reason:
            self.chosen = default

    def _clear(self, again: Row) -> float:
        """Returns the mean above which options are clearly better. Differences of single figures count as noise, even
        if they cancel out in the mean.
        """
        one = max(abs(math.log(figure)) for figure in again.ratio.all()) / len(again.ratio.all())
        return max(_CLEAR, math.exp(_TIMES_NOISE * max(one, abs(math.log(again.ratio.mean)))))

    def _tried(self, baseline: Pipeline, texts: list[list[int]], options: PipelineOptions) -> Row | Failure:
        try:
            return self._measure(baseline, texts, options)
        except ModelLoadError as error:
            return Failure(options, str(error))

    def _measure(self, baseline: Pipeline, texts: list[list[int]], options: PipelineOptions) -> Row:
        """Alternates measurements, so that other load on the machine affects both."""
        end = self._clock() + self._share
        pipeline = self._load(options)
        same = sum(one == other for one, other in zip(pipeline.texts(), texts, strict=True))
        mine: list[Figures] = []
        defaults: list[Figures] = []
        while len(mine) < _ROUNDS or self._clock() < end:
            self._salt += 1
            for measured, figures in ((baseline, defaults), (pipeline, mine)):
                figures.append(measured.figures(self._salt))
        return Row(options, best(mine) / best(defaults), same, len(texts))
