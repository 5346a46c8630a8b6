"""The matrix: its style sheet, and the links that report and correct a row."""

from urllib.parse import parse_qs, urlsplit

import pytest
from support.examples import ROOT

from specvino.document import yaml_text
from specvino.portal.pages.matrix import css, edit, report
from specvino.portal.source import Source

FIELDS = {field.name: field for field in Source().fields}


def test_a_name_stays_within_its_quotes() -> None:
    assert css('a "b"\n</style>\\') == r"a \22 b\22 \a \3c /style>\5c "


def test_an_issue_has_the_fields_of_its_form() -> None:
    address = urlsplit(report("https://example.org/it", FIELDS["chat.min_p"]))
    assert (address.netloc, address.path) == ("example.org", "/it/issues/new")
    filled = {name: values[0] for name, values in parse_qs(address.query).items()}
    form = yaml_text.load((ROOT / ".github" / "ISSUE_TEMPLATE" / filled.pop("template")).read_text())
    assert filled.pop("title") == "chat.min_p"
    assert filled.keys() <= {part["id"] for part in form["body"]}
    assert filled["field"] == "chat.min_p"
    assert "mlc-llm: ignored" in filled["marking"].splitlines()


@pytest.mark.parametrize(
    "name", ["chat.min_p", "responses.input", "chat.stream.choices[].delta.content", "error.response.error"]
)
def test_the_file_that_describes_a_field(name: str) -> None:
    address = edit("https://example.org/it", FIELDS[name])
    file = ROOT / address.removeprefix("https://example.org/it/edit/main/")
    assert f"{FIELDS[name].owners[0].component}:" in file.read_text()


def test_every_field_has_a_file() -> None:
    files = {edit("", field).removeprefix("/edit/main/") for field in FIELDS.values()}
    assert all((ROOT / file).is_file() for file in files)
