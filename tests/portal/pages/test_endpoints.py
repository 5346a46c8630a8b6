"""The page of an endpoint lists the conditions under which a valid-looking body is refused."""

from pathlib import Path

import pytest
import yaml

from specvino.document.operations import by_endpoint
from specvino.portal.pages import endpoints
from specvino.portal.source import Source

SOURCE = Source()
OPERATIONS = by_endpoint(SOURCE.document)
PAGES = {page.path: page.text for page in endpoints.pages(SOURCE)}
CONDITIONS = yaml.safe_load(Path("openapi/conditions.yaml").read_text("utf-8"))["conditions"]


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_on_the_pages_of_all_its_endpoints(name: str) -> None:
    condition = CONDITIONS[name]
    for endpoint in condition["endpoints"]:
        if endpoint in condition.get("schema", ()):
            code, sentence = "invalid_value", condition["message"]
        else:
            refusals = OPERATIONS[endpoint].definition["x-refusals"]
            [(code, sentence)] = [(own["code"], own["when"]) for own in refusals if own.get("condition") == name]
        row = f"| [`{code}`](../errors.md#{code}) | {sentence} |\n"
        assert PAGES[f"endpoints/{endpoint}.md"].count(row) == 1


def test_refusals_that_are_no_conditions_follow() -> None:
    text = PAGES["endpoints/chat.md"]
    assert text.index("`n` is above `best_of`.") < text.index("isn't the name of a model that this server serves")
