from specvino.codegen.lint import lint


def test_the_real_specification_has_no_problem(real):
    assert lint(real) == []
