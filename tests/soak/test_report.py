"""A run is well only where nothing is wrong; what was found is told whole."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from soak.census import Census, Memory, Watch
from soak.ends import End
from soak.journal import MOST_SHOWN, Journal
from soak.latency import FACTOR
from soak.plan import Soak
from soak.report import COLUMNS, problems, record, show


@pytest.fixture
def run(tmp_path: Path) -> Soak:
    """One in which all is well."""
    watch = Watch(psutil.Process(), tmp_path)
    watch.censuses = [Census(float(second), {"files": 40, "tasks": 2}, 2**28, second) for second in range(8)]
    watch.memory = [Memory(float(second), "server", 1, 2**28) for second in range(8)]
    soak = Soak("m", 1, 1, watch, restored={"kill worker": [0.5, 1.5]})
    for phase in ("quiet", "hostile"):
        soak.journal.phase = phase
        for _ in range(10):
            soak.journal.add("honest", "chat", End("answered"), 0.5)
        soak.journal.add("hostile", "deep", End("refused", "request_too_large"), 0.1)
        soak.journal.probes[phase] = [0.001, 0.002]
    return soak


def _fault(run: Soak) -> None:
    run.journal.fault("the server is not ready")


def _refused_in_peace(run: Soak) -> None:
    run.journal.phase = "quiet"
    run.journal.add("honest", "chat", End("refused", "rate_limit_exceeded"), 0.1)


def _wrong_end(run: Soak) -> None:
    run.journal.add("hostile", "chat", End("refused", "internal_error", ("an internal error",)), 0.1)


def _leak(run: Soak) -> None:
    run.watch.memory = [Memory(float(second), "server", 1, second << 24) for second in range(200)]


def _slow(run: Soak) -> None:
    run.journal.phase = "hostile"
    run.journal.add("honest", "chat", End("answered"), 0.5 * (FACTOR + 1))


def _late(run: Soak) -> None:
    for phase, first in (("quiet", 0.1), ("hostile", 1.1)):
        run.journal.phase = phase
        for _ in range(10):
            run.journal.add("honest", "chat", End("answered"), 0.5, first)


def _blocked(run: Soak) -> None:
    run.journal.probes["hostile"] = [0.5]


def test_nothing_is_wrong(run: Soak) -> None:
    assert list(problems(run)) == []


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_fault, "the server is not ready"),
        (_refused_in_peace, "1 honest requests ended with rate_limit_exceeded"),
        (_wrong_end, "hostile chat: an internal error"),
        (_leak, "leak: server grew"),
        (_slow, "the p99 of chat is 11.0 times"),
        (_late, "the p99 of chat: first text is 11.0 times"),
        (_blocked, "the p99 of /health/live is 250.0 times"),
    ],
)
def test_what_is_wrong_is_said(run: Soak, spoil: Callable[[Soak], None], message: str) -> None:
    spoil(run)
    (problem,) = problems(run)
    assert message in problem


def test_what_is_refused_beside_hostile_clients_is_no_fault(run: Soak) -> None:
    run.journal.phase = "hostile"
    run.journal.add("honest", "chat", End("refused", "engine_unavailable"), 0.1)
    assert list(problems(run)) == []


def test_a_run_that_compares_nothing_is_not_well(run: Soak) -> None:
    run.journal.entries = [entry for entry in run.journal.entries if entry.phase == "quiet"]
    (problem,) = problems(run)
    assert "no kind of request was answered often enough" in problem


def test_the_same_fault_many_times_is_told_in_few_lines(run: Soak) -> None:
    for _ in range(MOST_SHOWN + 5):
        run.journal.fault("no")
    assert list(problems(run))[-1] == "5 more like these"


def test_the_journals_of_both_sides_become_one(run: Soak) -> None:
    other = Journal("hostile")
    other.add("hostile", "deep", End("lost", None, ("gone",)), 0.1)
    run.journal.extend(other)
    assert list(problems(run)) == ["[hostile] hostile deep: gone"]
    assert run.journal.counts("hostile") == {"deep": {"request_too_large": 2, "lost": 1}}


def test_tables_and_json_have_it_all(run: Soak) -> None:
    _fault(run)
    shown = StringIO()
    show(run, Console(file=shown, width=150))
    for text in ("chat", "20 answered", "request_too_large", "kill worker", "1 problems"):
        assert text in shown.getvalue()
    content = json.loads(json.dumps(record(run)))
    assert content["ends"]["honest"] == {"chat": {"answered": 20}}
    assert content["latency"]["factors"] == {"chat": 1}
    cells = content["row"].split(" | ")
    assert cells == ["m, 1 minutes", "20", "2", "1.0", "1.0", "1.0 (chat)", "-", "2 ms", "1"]
    assert len(cells) == len(COLUMNS)
    assert f"| {content['row']} |" in shown.getvalue()
    assert content["problems"] == ["[hostile] the server is not ready"]
