"""The classes of client packages."""

from support.tiny_document import talk, thing

from specvino.codegen.emit.classes import requests


def test_what_is_sent_has_the_fields_own_names() -> None:
    found = requests(talk(ask=thing(_dry={"type": "boolean"})))
    assert "\n    _dry: NotRequired[bool]\n" in found
