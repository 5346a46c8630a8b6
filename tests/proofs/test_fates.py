"""The fields that are not honoured: those that can't be are named in the answer, those that need not be are not."""

from typing import Any

import jsonschema_rs
import pytest

from specvino.generated.support import SHAPES
from specvino.server.validation.support import apply

VALUES: list[Any] = ["x", 99, True, ["x"], {"x": "x"}]


@pytest.mark.parametrize("component", SHAPES)
def test_what_can_t_be_honoured_is_reported(component: str) -> None:
    shape = SHAPES[component]
    least = {name: shape.values.get(name, ("x",))[0] for name in shape.required}
    reported = set()
    for name, field in shape.fields.items():
        asking = [value for value in VALUES if not jsonschema_rs.is_valid(field.honours or {"const": 0}, value)]
        if name in apply("report", {**least, name: asking[0]}, component):
            reported.add(name)
    # Some are honoured only so far.
    without_effect = {
        name for name, field in shape.fields.items() if field.fate == "unsupported" or field.honours is not None
    }
    assert reported == without_effect
