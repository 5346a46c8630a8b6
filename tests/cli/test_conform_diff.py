"""specvino conform diff and matrix."""

import re

import pytest
from support.conforming import ANSWERS, conform, one_line, well, wrong
from support.raw_server import error, raw_server


@pytest.fixture
def two(tmp_path):
    files = [tmp_path / "good.ndjson", tmp_path / "bad.ndjson"]
    for behaves, file in zip((well, wrong), files, strict=True):
        with raw_server(behaves) as server:
            conform(server.url, *ANSWERS, "--ndjson", file)
    return files


def test_diff_says_what_is_worse(two) -> None:
    good, bad = two
    run = conform("diff", good, bad)
    assert run.exit_code == 1
    others = "and 1 more rule: chat/basics/answers"
    found = f"^worse    chat/rules/answer-shape: pass -> fail: .*\n +Answers lack `choices`\n +{others}$"
    assert re.search(found, run.stdout, re.MULTILINE)
    assert re.search(r"^\d+ worse, 0 better, \d+ changed", run.stdout, re.MULTILINE)
    run = conform("diff", bad, good)
    assert run.exit_code == 0
    assert "better   chat/rules/answer-shape: fail -> pass" in run.stdout
    assert conform("diff", bad, bad).exit_code == 0


def test_diff_shows_a_fault_once(tmp_path) -> None:
    async def fails(asked):
        yield error("500 Internal Server Error", "it broke")

    files = [tmp_path / "good.ndjson", tmp_path / "bad.ndjson"]
    for behaves, file in zip((well, fails), files, strict=True):
        with raw_server(behaves) as server:
            conform(server.url, *ANSWERS, "-f", "chat/basics/several-turns", "--ndjson", file)
    run = conform("diff", *files)
    assert run.exit_code == 1
    assert len(re.findall("^worse ", run.stdout, re.MULTILINE)) == 1, run.stdout
    assert re.search(r"^         and \d more rules?: .*chat/basics/answers", run.stdout, re.MULTILINE)


def test_diff_refuses_runs_of_different_plans(two) -> None:
    good, bad = two
    bad.write_text(bad.read_text("utf-8").replace('"profile":"full"', '"profile":"core"'), "utf-8")
    line = one_line(conform("diff", good, bad))
    assert "are runs with different plans: profile is full, then core" in line


def test_diff_refuses_a_cut_file(two) -> None:
    good, bad = two
    bad.write_bytes(bad.read_bytes()[:-20])
    assert "can't be compared: The report is incomplete" in one_line(conform("diff", good, bad))


def test_matrix_makes_a_site(two, tmp_path) -> None:
    run = conform("matrix", *two, "-o", tmp_path / "site")
    assert run.exit_code == 0
    assert run.stdout == f"specvino: wrote {tmp_path / 'site' / 'index.html'} with 2 servers\n"
    assert {file.name for file in (tmp_path / "site").iterdir()} == {"index.html", "good.html", "bad.html"}


def test_matrix_calls_a_server_by_its_name(tmp_path) -> None:
    file = tmp_path / "report.ndjson"
    with raw_server(well) as server:
        conform(server.url, *ANSWERS, "--ndjson", file, "--server", "A server 2.1")
    conform("matrix", file, "-o", tmp_path / "site")
    assert {page.name for page in (tmp_path / "site").iterdir()} == {"index.html", "a-server-2-1.html"}
    assert "<h1>A server 2.1</h1>" in (tmp_path / "site/a-server-2-1.html").read_text("utf-8")


def test_matrix_into_a_file_is_one_line(two) -> None:
    assert "can't be written" in one_line(conform("matrix", *two, "-o", two[0] / "site"))
