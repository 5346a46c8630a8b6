"""Examples: there are enough, and all of them are valid."""

from collections.abc import Iterator

from specvino.codegen.examples import examples
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.validator import Validators
from specvino.document.walk import media_types

PER_REQUEST = 3


def enough(spec: Spec) -> Iterator[Problem]:
    """There are three examples per request body, and one per JSON answer. (Those of streams: see streams.py.)"""
    for place, media in media_types(spec.document):
        wanted = PER_REQUEST if " request " in place else 1
        if "itemSchema" not in media and len(media.get("examples", {})) < wanted:
            yield Problem("examples", place, f"has {len(media.get('examples', {}))} examples, but needs {wanted}")


def valid(spec: Spec) -> Iterator[Problem]:
    """Each example fits its schema, formats included; in particular, no value is in two branches of a oneOf."""
    validators = Validators(spec.document)
    for place, schema, value in examples(spec.document):
        for fault in validators.of(schema).violations(value):
            yield Problem("examples", place, fault)
