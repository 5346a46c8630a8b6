"""The rules of the specification, one file per family."""

from collections.abc import Callable, Iterator

from specvino.codegen.lint import (
    bounds,
    components,
    conditions,
    documents,
    errors,
    markings,
    rows,
    streams,
    support,
    unions,
    vocabulary,
)
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec

__all__ = ["Problem", "lint"]

# The rules of a stage rely on the checks of previous stages.
STAGES: tuple[tuple[Callable[[Spec], Iterator[Problem]], ...], ...] = (
    (components.references, documents.schemas, errors.codes, support.systems),
    (markings.defaults, markings.origins, vocabulary.placed, components.titles, components.named, streams.tables),
    # Rules about single schemas, regardless of their context.
    (markings.descriptions, markings.remarks, markings.handling, markings.supported_values, bounds.bounds),
    (documents.openapi,),
    (
        components.unused,
        markings.systems_fields,
        markings.queries,
        unions.unions,
        unions.titled,
        unions.overlaps,
        errors.refusals,
        conditions.conditions,
        conditions.refused_fields,
        errors.declared,
        errors.examples,
        documents.enough,
        documents.valid,
        support.dialects,
        support.complete,
        support.surplus,
        support.differences,
        rows.beside,
        streams.examples,
    ),
    (documents.dialects,),
)


def lint(spec: Spec) -> list[Problem]:
    """Returns the problems of the first stage that has any; there are none when the specification is sound."""
    for stage in STAGES:
        if problems := [problem for rule in stage for problem in rule(spec)]:
            return problems
    return []
