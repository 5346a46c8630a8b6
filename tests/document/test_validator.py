"""What is valid, and what is said of what isn't."""

from specvino.document.validator import Validators

DOCUMENT = {"components": {"schemas": {"a/b": {"type": "integer", "minimum": 1}, "Day": {"format": "date"}}}}


def test_schemas_may_refer_to_the_document():
    validators = Validators(DOCUMENT)
    several = validators.of({"type": "array", "items": {"$ref": "#/components/schemas/a~1b"}})
    assert several.fits([1, 2])
    assert list(several.violations([1, 0])) == ["1: 0 is less than the minimum of 1"]
    assert validators.at("/components/schemas/a~1b") is validators.at("/components/schemas/a~1b")


def test_formats_count():
    assert not Validators(DOCUMENT).at("/components/schemas/Day").fits("31 June")
