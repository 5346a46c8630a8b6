"""The fields that are not supported: those without support are named in the answer, those that need not be are not."""

from typing import Any

import jsonschema_rs
import pytest

from specvino.generated.support import SHAPES
from specvino.server.validation.support import apply

VALUES: list[Any] = ["x", 99, True, ["x"], {"x": "x", "type": "x"}, 0.5]


@pytest.mark.parametrize("component", SHAPES)
def test_what_is_not_supported_is_reported(component: str) -> None:
    shape = SHAPES[component]
    least = {name: shape.values.get(name, ("x",))[0] for name in shape.required}
    reported = set()
    for name, field in shape.fields.items():
        asking = [
            value for value in VALUES if not jsonschema_rs.is_valid(dict(field.supported_values or {"const": 0}), value)
        ]
        if name in apply("report", {**least, name: asking[0]}, component):
            reported.add(name)
    # Some are supported for certain values only.
    without_effect = {
        name
        for name, field in shape.fields.items()
        if field.handling == "unsupported" or field.supported_values is not None
    }
    assert reported == without_effect
