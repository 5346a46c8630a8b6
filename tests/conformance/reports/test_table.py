"""The terminal."""

import io

import pytest
from rich.console import Console
from support.reports import SHOWN, line, report

from specvino.conformance.reports import table
from specvino.conformance.reports.records import FindingRecord


def console(*, terminal=False, height=40):
    return Console(file=io.StringIO(), force_terminal=terminal, color_system=None, width=120, height=height)


def shown(console):
    return console.file.getvalue()


@pytest.fixture
def whole():
    return report(
        line("chat/a/good"),
        line("chat/a/bad", "fail"),
        line("chat/a/known", "fail", accepted=True),
        line("chat/b/x", "skip", because="no key"),
        line("chat/b/y", "skip", because="no key"),
        line(
            "chat/c/z",
            "fail",
            severity="should",
            advice="Clients wait for it.",
            source="/paths",
            findings=(FindingRecord(message="it is late"),),
        ),
    )


def test_elsewhere_each_rule_is_a_line_if_wanted(whole) -> None:
    plain = console()
    with table.LiveTable(plain, whole, 6, lambda: 9) as live:
        for line in whole.lines:
            live.feed(line)
    assert not shown(plain)
    with table.LiveTable(plain, whole, 6, lambda: 9, verbose=True) as live:
        for line in whole.lines:
            live.feed(line)
    lines = shown(plain).splitlines()
    assert lines[:2] == ["pass chat/a/good", "fail chat/a/bad: there is no choice"]
    assert lines[-1] == "fail (should) chat/c/z: it is late"


def test_a_terminal_has_a_table_and_a_bar(whole) -> None:
    terminal = console(terminal=True)
    with table.LiveTable(terminal, whole, 8, lambda: 9):
        pass
    growing, left = shown(terminal).split("\x1b[?25h")
    assert "chat/a" in growing
    assert "chat/a" not in left
    assert "6 of 8 cases, 9 requests" in shown(terminal)


def test_a_low_terminal_has_endpoints_only(whole) -> None:
    terminal = console(terminal=True, height=7)
    with table.LiveTable(terminal, whole, 8, lambda: 9, verbose=True):
        pass
    # The cursor is shown again when the run is over; then the whole table comes.
    growing, whole_table = shown(terminal).split("\x1b[?25h")
    assert "chat" in growing
    assert "chat/a" not in growing
    assert "chat/a" in whole_table


def test_findings_have_their_request_and_a_command(whole) -> None:
    plain = console()
    table.show_findings(plain, whole)
    text = shown(plain)
    assert "fail chat/a/bad\n  There is a choice.\n  there is no choice\n" in text
    advised = "fail (should) chat/c/z\n  There is a choice.\n  Reason for this advice: Clients wait for it. (/paths)\n"
    assert advised in text
    assert "\nThere is no choice\nfail chat/a/bad\n" in text
    assert text.index("chat/c/z") < text.index("chat/a/bad")  # what binds most is seen last
    assert str(SHOWN) in text
    assert SHOWN.curl in text
    assert "chat/a/known" not in text
    assert "no key" not in text


def test_a_fault_has_all_its_findings_below_its_title() -> None:
    def broken(rule, message, **more):
        return line(rule, "fail", findings=(FindingRecord(message=message),), **more)

    plain = console()
    rules = [
        broken("chat/rules/answer-shape", 'it: "usage" is a required property'),
        broken("chat/usage/a", "the answer has no usage"),
        broken("chat/usage/b", "the answer has no usage", severity="should"),
        broken("chat/usage/c", "the answer has no usage.total_tokens"),
    ]
    table.show_findings(plain, report(*rules))
    assert (
        "\n".join(line.rstrip() for line in shown(plain).splitlines())
        == """
Answers lack `usage`
fail chat/rules/answer-shape
  There is a choice.
  it: "usage" is a required property
  and 3 more rules:
    the answer has no usage
      chat/usage/a, chat/usage/b (should)
    the answer has no usage.total_tokens
      chat/usage/c"""
    )


def test_what_is_no_finding_is_shown_if_wanted(whole) -> None:
    plain = console()
    table.show_findings(plain, whole, verbose=True)
    text = shown(plain)
    assert "accepted fail chat/a/known: there is no choice" in text
    assert text.count("no key") == 1
    assert "chat/b/x, chat/b/y" in text


def test_only_new_findings_of_a_rule_are_shown() -> None:
    findings = (FindingRecord(message="It is known.", accepted=True), FindingRecord(message="It is new."))
    plain = console()
    table.show_findings(plain, report(line("chat/a/bad", "fail", findings=findings)))
    assert "It is new." in shown(plain)
    assert "It is known." not in shown(plain)
    assert "and 1 accepted by the baseline" in shown(plain)


@pytest.mark.parametrize(("exchanges", "more"), [(1, ""), (2, ""), (3, "1 more request\n"), (5, "3 more requests\n")])
def test_both_requests_of_a_comparison_have_their_command(exchanges, more) -> None:
    several = tuple(SHOWN.model_copy(update={"number": n, "curl": f"curl {n}"}) for n in range(exchanges))
    plain = console()
    table.show_findings(
        plain, report(line("chat/a/bad", "fail", findings=(FindingRecord(message="They differ.", exchanges=several),)))
    )
    assert [line.strip() for line in shown(plain).splitlines() if "curl" in line] == ["curl 0", "curl 1"][:exchanges]
    assert shown(plain).partition("and ")[2] == more


def test_the_totals_end_it(whole) -> None:
    plain = console()
    table.show_totals(plain, whole, ["no longer needed in the baseline: chat/z/z"])
    assert shown(plain).splitlines() == [
        "no longer needed in the baseline: chat/z/z",
        "",
        "must: 1 pass · 2 fail · 2 skip of 5",
        "should: 0 pass · 1 fail of 1",
        "2 faults, reported by 2 rules",
        "1 accepted by the baseline; 1 left out, not in the dialect openai; 1 left out, no key was given",
        "9 requests in 1.5 s",
    ]


def test_markup_of_a_server_is_text() -> None:
    plain = console()
    table.show_findings(plain, report(line("chat/a/bad", "fail", findings=(FindingRecord(message="[red]x[/]"),))))
    assert "[red]x[/]" in shown(plain)
