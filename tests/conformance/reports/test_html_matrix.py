"""The site of several servers."""

import pytest
from support.reports import HEADER, Page, line, report, text_of, tree

from specvino.conformance.reports import html
from specvino.conformance.reports.records import Report


@pytest.fixture
def site(tmp_path):
    reports = {
        "one": report(line("chat/a/b"), line("chat/a/c", "fail")),
        "Two <b>": report(line("chat/a/b", "fail"), line("models/list/served")),
        "index": Report(HEADER, [line("chat/a/b")]),
    }
    html.write_matrix(reports, tmp_path / "deep" / "site")
    return {file.name: file.read_text("utf-8") for file in (tmp_path / "deep" / "site").iterdir()}


def test_each_server_has_a_page(site) -> None:
    assert set(site) == {"index.html", "one.html", "two-b.html", "index-2.html"}


def test_each_cell_leads_to_what_was_found(site) -> None:
    pages = {name: Page(text) for name, text in site.items()}
    for name, page in pages.items():
        for reference in page.references:
            if reference != "data:,":
                file, _, fragment = reference.partition("#")
                assert not fragment or fragment in pages[file or name].ids
    cells = [reference for reference in pages["index.html"].references if "#" in reference]
    assert len(cells) == 5


def test_rows_say_how_the_servers_differ(site) -> None:
    assert 'data-verdicts="pass fail pass"' in site["index.html"]
    assert 'data-verdicts="none pass none"' in site["index.html"]


def test_each_server_has_the_number_of_its_faults(tmp_path) -> None:
    lines = [line("chat/a/b", "fail"), line("chat/a/c", "fail"), line("chat/a/d", "fail", accepted=True)]
    html.write_matrix({"one": report(*lines), "two": report(line("chat/a/b"))}, tmp_path)
    servers = next(tree((tmp_path / "index.html").read_text("utf-8")).iter("table"))
    assert [[text_of(cell) for cell in row][-3:-1] for row in servers.iter("tr")] == [
        ["of", "faults"],
        ["3", "2"],
        ["1", ""],
    ]


def test_advice_has_a_heading_of_its_own(tmp_path) -> None:
    advice = {"severity": "should", "advice": "Clients wait for it.", "source": "/paths"}
    reports = {
        "one": report(line("a/a/advice", "fail", **advice), line("b/b/rule"), line("c/c/both", "fail", **advice)),
        "two": report(line("a/a/advice", **advice), line("b/b/rule"), line("c/c/both")),
    }
    html.write_matrix(reports, tmp_path)
    (rules,) = (
        table
        for table in tree((tmp_path / "index.html").read_text("utf-8")).iter("table")
        if table.get("class") == "matrix"
    )
    assert [[text_of(row[0]) for row in group] for group in rules.iter("tbody")] == [
        ["Rules that follow from the document", "b/b/rule", "c/c/both"],
        ["Advice", "a/a/advice"],
    ]


def test_a_cut_report_is_marked(site) -> None:
    assert site["index.html"].count(">incomplete<") == 1
    assert "index: The report is incomplete" in site["index.html"]


def test_nothing_comes_from_elsewhere(site) -> None:
    for text in site.values():
        page = Page(text)
        assert "<b>" not in page.tags
        assert not [reference for reference in page.references if "//" in reference]
        assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
