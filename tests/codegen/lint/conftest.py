import pytest

from specvino.codegen.lint import lint


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
