from specvino.codegen.lint import lint


def test_the_real_specification_has_no_problem(real) -> None:
    assert lint(real) == []
