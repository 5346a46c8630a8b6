"""What is known of a server is compared with what is found, and carried on."""

from field.truth import AS, marked, unmarked, unread, updated
from specvino.conformance.reports.baseline import Accepted, Baseline
from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.records import FindingRecord, Header, Line, Report
from specvino.conformance.verdict import Verdict

HEADER = Header(
    tool="specvino 0",
    server="a server 1",
    url="http://127.0.0.1:1/v1",
    model="m",
    dialect="openai",
    document="0",
    profile="full",
    layers=("cases",),
    started="2026-11-23T00:00:00Z",
)


def broken(rule: str, message: str) -> Line:
    return Line(rule=rule, layer="cases", says="s", verdict=Verdict.FAIL, findings=(FindingRecord(message=message),))


def report(*lines: Line) -> Report:
    return Report(HEADER, list(lines))


def test_a_rule_that_tells_of_the_same_fault_refers_to_the_first() -> None:
    run = report(broken("chat/a/b", "'stop' isn't held"), broken("chat/a/c", "'stop' isn't held"))
    known = updated(run, Baseline())
    assert {rule: entry.because for rule, entry in known.accepted.items()} == {
        "chat/a/b": "",
        "chat/a/c": f"{AS}chat/a/b",
    }
    assert unread(known) == ["chat/a/b"]


def test_a_truth_that_was_noted_stays() -> None:
    run = report(broken("chat/a/b", "'stop' isn't held"))
    before = Baseline(accepted={"chat/a/b": Accepted(verdict=Verdict.FAIL, because="It is so.", findings=())})
    assert updated(run, before).accepted["chat/a/b"].because == "It is so."


def test_what_referred_to_a_fault_that_is_gone_has_to_be_read() -> None:
    before = Baseline(accepted={"chat/a/c": Accepted(verdict=Verdict.FAIL, because=f"{AS}chat/a/b")})
    assert unread(updated(report(broken("chat/a/c", "'stop' isn't held")), before)) == ["chat/a/c"]


def test_what_is_known_is_no_new_fault() -> None:
    run = report(broken("chat/a/b", "'stop' isn't held"))
    noted = marked(run, updated(run, Baseline()))
    assert not faults(noted.lines)
    assert len(faults(noted.lines, accepted=True)) == 1
    other = marked(report(broken("chat/a/b", "there is no text")), updated(run, Baseline()))
    assert [fault.head.why for fault in faults(other.lines)] == ["there is no text"]


def test_a_marked_line_can_be_read_as_it_was() -> None:
    line = broken("chat/a/b", "'stop' isn't held")
    known = Baseline(accepted={"chat/a/b": Accepted(verdict=Verdict.FAIL, because="It is so.")})
    assert unmarked(known.mark(line)) == line
