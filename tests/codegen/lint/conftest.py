import pytest

from specvino.codegen.lint import STAGES, lint


@pytest.fixture
def only(spec):
    """Asserts that the lint finds one problem in `spec`, of this rule, whose line has all these words."""

    def check(rule, *words):
        found = lint(spec)
        assert [problem.rule for problem in found] == [rule], [str(problem) for problem in found]
        line = str(found[0])
        assert "\n" not in line
        for word in words:
            assert word in line

    return check


@pytest.fixture
def sound(spec):
    """Asserts that no rule has anything against `spec` itself: the last stage makes all systems' documents of it, which
    takes seconds."""

    def check():
        assert [str(problem) for stage in STAGES[:-1] for rule in stage for problem in rule(spec)] == []

    return check
