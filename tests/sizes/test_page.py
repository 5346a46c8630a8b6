import copy
import json
from typing import Any

from sizes.page import PAGE, PLOT, RESULTS, page, plot

_DRAFTED = {
    "streams": 1,
    "sides": {
        "none": {"tokens_per_second": [10.0, 20.0, 10.0], "accepted": 0.0},
        "prompt lookup": {"tokens_per_second": [15.0, 20.0, 18.0], "accepted": 0.25},
    },
}
_STARTED = {"start_s": 3.2, "top_logprobs_s": [4.25, 0.31]}


def _results() -> dict[str, Any]:
    return dict(json.loads(RESULTS.read_text("utf-8")))


def _cells(text: str, title: str, name: str) -> list[list[str]]:
    """Returns the rows of a model in a table."""
    _, after = text.split(f"## {title}", 1)
    lines = after.split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row[1:] for row in rows if row[0] == name]


def test_the_page_has_the_results() -> None:
    results = _results()
    assert PAGE.read_text("utf-8") == page(results)
    assert PLOT.read_text("utf-8") == plot(results)


def test_a_model_without_a_gguf_file_has_no_ratio_to_llama_cpp() -> None:
    (name, figures), *_ = _results().items()
    alone = copy.deepcopy(figures)
    del alone["start"]["first_start_s"]
    for load in alone["requests"]["loads"]:
        load["sides"].pop("llama.cpp", None)
    text = page({name: figures, "a folder": alone})
    for row, other in zip(_cells(text, "Tokens", "a folder"), _cells(text, "Tokens", name), strict=True):
        assert row[:5] == other[:5]
        assert row[5:] == ["", ""] != other[5:]
    assert _cells(text, "Start", "a folder")[0][1] == ""
    assert "a folder" not in plot({name: figures, "a folder": alone})
    assert _goals(text, "llama.cpp") == _goals(page({name: figures}), "llama.cpp")


def _goals(text: str, ratio: str) -> list[str]:
    _, after = text.split("## Goals", 1)
    return [line for line in after.split("\n## ")[0].splitlines() if ratio in line]


def test_the_page_says_when_and_where_parts_were_measured() -> None:
    (name, figures), *_ = _results().items()
    one, other = copy.deepcopy(figures), copy.deepcopy(figures)
    for part in one.values():
        part["machine"] |= {"date": "1 May 2026", "cores": 2}
    for part in other.values():
        part["machine"] |= {"date": "1 May 2026", "cores": 2}
    other["start"]["machine"] |= {"date": "2 May 2026", "cores": 8}
    text = " ".join(page({name: {part: one[part] for part in ("start", "requests")}, "again": other}).split())
    assert f"1 May 2026: {name} (start, requests); again (" in text
    assert "on 8 cores" in text
    assert "2 May 2026: again (start)." in text


def test_a_start_has_its_first_requests_with_top_logprobs() -> None:
    (name, figures), *_ = _results().items()
    preloaded = {"start_s": 9.0, "top_logprobs_s": [0.3, 0.2]}
    start = figures["start"] | {"on-demand": _STARTED, "preload": preloaded}
    text = page({name: figures | {"start": start}})
    assert _cells(text, "Start", name)[0][2:] == ["3", "4.2", "0.3", "9", "0.3", "0.2"]


def test_drafts_are_beside_the_share_that_was_accepted() -> None:
    (name, figures), *_ = _results().items()
    drafting = {"machine": figures["start"]["machine"], "loads": [_DRAFTED]}
    text = page({name: figures | {"drafting": drafting}})
    assert _cells(text, "Speculative", f"{name}, none") == [["1", "10.0", "1.00", "0%"]]
    assert _cells(text, "Speculative", f"{name}, prompt lookup") == [["1", "18.0", "1.50", "25%"]]
