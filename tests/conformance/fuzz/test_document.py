"""What a fuzz run reads of the document."""

import json
from importlib.resources import files

from specvino.conformance.fuzz.document import body_fields
from specvino.document.operations import operations

DOCUMENT = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))


def test_the_fields_of_bodies() -> None:
    fields = {each.id: body_fields(each) for each in operations(DOCUMENT)}
    assert fields["list_models"] == set()
    assert fields["create_chat_completion"] > {"model", "messages", "max_completion_tokens", "stream"}
