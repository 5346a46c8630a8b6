"""What a fuzz run reads of the document."""

import json
from importlib.resources import files
from typing import Any

import pytest
import schemathesis
from hypothesis.strategies._internal.strategies import FilteredStrategy
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.coverage._operation import iter_coverage_cases

from specvino.conformance.fuzz.document import body_fields
from specvino.document.operations import operations
from specvino.document.transforms import folded

DOCUMENT = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))


def test_the_fields_of_bodies() -> None:
    fields = {operation.id: body_fields(operation) for operation in operations(DOCUMENT)}
    assert fields["list_models"] == set()
    assert fields["create_chat_completion"] > {"model", "messages", "max_completion_tokens", "stream"}


@pytest.mark.parametrize("operation", ["create_completion", "create_response", "create_chat_completion", "tokenize"])
def test_no_body_is_drawn_whole_until_one_fits(operation, monkeypatch) -> None:
    """The first case of an operation's coverage is there at once: hundreds of bodies that don't fit take a minute."""
    drawn = []
    draw = FilteredStrategy.do_filtered_draw

    def counting(self, data):
        drawn.append(self)
        return draw(self, data)

    monkeypatch.setattr(FilteredStrategy, "do_filtered_draw", counting)
    schema = schemathesis.openapi.from_dict(folded(DOCUMENT))
    fuzzed: Any = next(iter(schema.include(operation_id=operation).get_all_operations()))
    next(
        iter_coverage_cases(
            operation=fuzzed.ok(),
            generation_modes=list(GenerationMode),
            generate_duplicate_query_parameters=False,
            unexpected_methods=set(),
            generation_config=schema.config.generation,
        )
    )
    assert len(drawn) < 10
