"""What other judges say is counted and kept."""

from pathlib import Path

from field.outside import counted, judges


def test_what_a_judge_decides_counts_as_passed_or_failed() -> None:
    states = ("pass", "fail", "error", "skipped", "unsupported", "inconclusive", "unreachable")
    tests = [{"id": state, "outcome": state, "failures": [{"message": f"is {state}"}]} for state in states]
    outcome = counted(judges()["llmprobe"], tests, Path("/srv/machine/.field"))
    assert (outcome.passed, outcome.decided) == (1, 3)
    assert outcome.failed == {"fail": "is fail", "error": "is error"}
    assert outcome.title == judges()["llmprobe"].title


def test_what_a_judge_says_has_no_path_of_the_machine() -> None:
    tests = [{"id": "a", "status": "failed", "errors": ["File /srv/machine/.field/a.py " + "x" * 300]}]
    outcome = counted(judges()["llm-comply-chat"], tests, Path("/srv/machine/.field"))
    assert outcome.failed["a"].startswith("File .field/a.py x")
    assert len(outcome.failed["a"]) == 200
