"""Notes about a system's fields, held against the schemas beside them."""

import pytest
from support.tiny_document import dialect, object_of, talk

from specvino.codegen.lint.support import denied
from specvino.codegen.project import project

NUMBER = {"type": ["number", "null"]}
LIST = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({"note": "Also 3."}, None),
        ({"note": "Also 3.", "schema": {"type": "number", "maximum": 2}}, "'Also 3', which the schema refuses"),
        ({"note": "Also 3%."}, None),
        ({"note": "null is 1."}, None),
        ({"note": "null is a 400."}, "'null is a 400', the schema takes null"),
        ({"note": "null is a 400.", "nullable": False}, None),
        ({"note": "null is 1.", "nullable": False}, "'null is', the schema refuses null"),
        ({"note": "At most 4."}, "'At most 4', the schema has no such bound"),
        ({"note": "At most 4.", "schema": {"type": "number", "maximum": 4}}, None),
        ({"note": "Not checked."}, None),
        ({"note": "Not checked.", "schema": {"type": "number", "minimum": 0}}, "the schema has minimum"),
        ({"note": "May be left out."}, "required and schema state"),
        ({"note": "Slow."}, None),
        ({"note": "Others are a 400."}, None),
        ({"note": "Others are a 400.", "schema": {}}, "'Others are a 400', the schema accepts it"),
        ({"note": "Others are a 400, if it is large.", "schema": {}}, None),
        ({"note": "A list is rejected.", "schema": {}}, "'A list is rejected', the schema accepts it"),
        ({"note": "false is accepted, too."}, "'false is accepted, too', the schema refuses it"),
        ({"note": "zero is accepted, too."}, "'zero is accepted, too', which the schema refuses"),
        ({"note": "zero is accepted, too.", "schema": {"type": ["number", "string"]}}, None),
        ({"note": "More than 1,000 is a 400."}, "'More than 1,000 is a 400', the schema accepts it"),
        ({"note": "5 is a 400."}, "'5 is a 400', the schema accepts it"),
        ({"note": "0 is refused.", "schema": {"type": "number", "not": {"const": 0}}}, None),
        ({"note": "-1 is accepted, too."}, None),
        ({"note": "Values above 7 are a 400."}, "'Values above 7 are a 400', the schema accepts it"),
        ({"note": "A value below 0.5 is an error."}, "'A value below 0.5 is an error', the schema accepts it"),
        ({"note": "A value below 0.5 is an error.", "schema": {"type": "number", "minimum": 0.5}}, None),
        ({"note": "Values above 7 are a 400.", "schema": {"type": "number", "maximum": 7}}, None),
        ({"note": "More than 3 is a 400.", "schema": LIST}, "'More than 3 is a 400', the schema accepts it"),
        ({"note": "More than 3 is a 400.", "schema": LIST | {"maxItems": 3}}, None),
        ({"note": "Less than 2 is a 400.", "schema": LIST}, "'Less than 2 is a 400', the schema accepts it"),
        ({"note": "Less than 2 is a 400.", "schema": LIST | {"minItems": 2}}, None),
        ({"note": "zero is accepted too."}, "'zero is accepted too', which the schema refuses"),
        ({"note": "More than 20 is a 400.", "level": "ignored"}, "'More than 20 is a 400', the schema accepts it"),
    ],
)
def test_a_note_says_what_the_schema_says(entry, what) -> None:
    system = dialect(request={"n": {"level": "full"} | entry}, response={})
    problems = [str(problem) for problem in denied("odd", system, project(talk(ask=object_of(n=NUMBER)), system))]
    assert len(problems) == (what is not None)
    if what:
        assert problems[0].startswith("note: openapi/dialects/odd.yaml talk.n: ")
        assert what in problems[0]
