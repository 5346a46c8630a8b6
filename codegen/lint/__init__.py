"""The rules that the specification keeps, one file per family."""

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec

RULES = ()


def lint(spec: Spec) -> list[Problem]:
    """Every breach of every rule."""
    return [problem for rule in RULES for problem in rule(spec)]
