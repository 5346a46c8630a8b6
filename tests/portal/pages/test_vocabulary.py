"""The page of the document's own keywords."""

from support.portal import SOURCE

from specvino.portal.pages.vocabulary import pages


def test_every_keyword_has_its_place_its_meaning_and_its_schema() -> None:
    [page] = pages(SOURCE)
    head, *sections = page.text.split("\n## ")
    definitions = {name: definition for name, definition in SOURCE.vocabulary["$defs"].items() if name.startswith("x-")}
    assert [section.split("`")[1] for section in sections] == list(definitions)
    for (name, definition), section in zip(definitions.items(), sections, strict=True):
        assert f"[`{name}`](#{name})" in head
        assert definition["description"] in section
        assert "JSON Schema" in section
