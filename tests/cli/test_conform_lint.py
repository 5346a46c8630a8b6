"""specvino conform lint."""

import json

from support.conforming import conform, one_line


def test_lint_knows_the_rules(tmp_path) -> None:
    baseline = tmp_path / "b.yaml"
    rules = (
        "chat/basics/answers",
        "chat/rules/answer-shape",
        "chat/capabilities/tools",
        "chat/fuzz/not-a-server-error",
    )
    baseline.write_text(json.dumps({"accepted": {rule: {"verdict": "fail"} for rule in rules}}))
    assert conform("lint", baseline).exit_code == 0
    baseline.write_text("accepted: {chat/basics/answer: {verdict: fail}, nowhere/rules/ids-unique: {verdict: fail}}")
    run = conform("lint", baseline)
    assert run.exit_code == 1
    assert run.stdout == (
        f"{baseline}: unknown rule chat/basics/answer; did you mean chat/basics/answers?\n"
        f"{baseline}: unknown rule nowhere/rules/ids-unique\n"
    )


def test_lint_refuses_what_is_no_baseline(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("accepted: [1]")
    run = conform("lint", tmp_path / "b.yaml")
    assert run.exit_code == 1
    assert "isn't a baseline: accepted" in run.stdout
    assert "can't be read" in one_line(conform("lint", "/no/such"))
