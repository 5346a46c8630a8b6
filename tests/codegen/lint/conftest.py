from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from specvino.codegen import lint as linting
from specvino.codegen.lint import STAGES, documents, lint
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec

Rule = Callable[[Spec], Iterator[Problem]]


@pytest.fixture(autouse=True)
def _only_what_a_test_changed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two slow rules don't judge again what is in `spec` as it is in `small`, which has no problem."""
    if "spec" not in request.fixturenames:
        return
    small, spec = request.getfixturevalue("small"), request.getfixturevalue("spec")
    changed: dict[Rule, Rule] = {documents.openapi: _openapi(small, spec), documents.dialects: _dialects(small, spec)}
    stages = tuple(tuple(changed.get(rule, rule) for rule in stage) for stage in STAGES)
    monkeypatch.setattr(linting, "STAGES", stages)


def _openapi(small: Spec, spec: Spec) -> Rule:
    """The rule on the changed paths and components; the other components accept anything."""

    def rule(asked: Spec) -> Iterator[Problem]:
        if asked is not spec:
            yield from documents.openapi(asked)
            return
        before, after = small.document, spec.document
        paths = {path: item for path, item in after["paths"].items() if item != before["paths"].get(path)}
        known = before["components"]["schemas"]
        schemas = {
            name: {} if schema == known.get(name) else schema for name, schema in after["components"]["schemas"].items()
        }
        yield from documents.openapi(
            replace(spec, document=after | {"paths": paths, "components": after["components"] | {"schemas": schemas}})
        )

    return rule


def _dialects(small: Spec, spec: Spec) -> Rule:
    """The rule on the changed dialects; on all of them where the document or the vocabulary is another."""

    def rule(asked: Spec) -> Iterator[Problem]:
        if asked is not spec or replace(small, dialects={}) != replace(spec, dialects={}):
            yield from documents.dialects(replace(asked))  # a test may have changed it since it was projected
            return
        dialects = {name: dialect for name, dialect in spec.dialects.items() if dialect != small.dialects.get(name)}
        versions = {name: dialect for name, dialect in spec.versions.items() if name.partition("@")[0] in dialects}
        yield from documents.dialects(replace(spec, dialects=dialects, versions=versions))

    return rule


@pytest.fixture
def only(spec):
    """Asserts that the lint finds one problem in `spec`, of this rule, whose line has all these words."""

    def check(rule, *words):
        problems = lint(spec)
        assert [problem.rule for problem in problems] == [rule], [str(problem) for problem in problems]
        line = str(problems[0])
        assert "\n" not in line
        for word in words:
            assert word in line

    return check


@pytest.fixture
def sound(spec):
    """Asserts that no rule has anything against `spec` itself: the last stage makes all systems' documents of it, which
    takes seconds."""

    def check():
        assert [str(problem) for stage in linting.STAGES[:-1] for rule in stage for problem in rule(spec)] == []

    return check
