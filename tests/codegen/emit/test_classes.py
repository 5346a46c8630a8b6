"""The classes of client packages."""

from support.tiny_document import object_of, talk

from specvino.codegen.emit.classes import requests


def test_what_is_sent_has_the_fields_own_names() -> None:
    source = requests(talk(ask=object_of(_dry={"type": "boolean"})))
    assert "\n    _dry: NotRequired[bool]\n" in source
