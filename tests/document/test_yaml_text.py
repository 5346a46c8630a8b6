"""YAML texts, with and without libyaml."""

import json

import pytest
import yaml

from specvino.document import loading, yaml_text


def test_what_is_written_is_read_again() -> None:
    document = json.loads(loading.read(loading.OPENAPI_32))
    assert yaml_text.load(yaml_text.dump(document)) == document


def test_python_s_own_reader_reads_the_same() -> None:
    value = {"b": ["on", "1", 1.5, None], "a": {"é": "x: y\n#z", "long": "word " * 40}, "": [[], {}]}
    text = yaml_text.dump(value)
    assert yaml.safe_load(text) == yaml_text.load(text) == value


def test_keys_keep_their_order_and_letters_are_letters() -> None:
    assert yaml_text.dump({"b": "é", "a": 1}) == "b: é\na: 1\n"


def test_what_is_no_yaml() -> None:
    with pytest.raises(yaml.YAMLError):
        yaml_text.load("a: [")
