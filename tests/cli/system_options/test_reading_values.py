"""What the values of options hold."""

import pytest

from specvino.cli.system_options.reading import OptionError, parts, single
from specvino.cli.system_options.table import Meaning


@pytest.mark.parametrize(
    ("split", "values", "expected"),
    [
        (None, ["a,b", "c"], ["a,b", "c"]),
        (",", ["a,b", "c,"], ["a", "b", "c"]),
        ("json", ['["a", "b"]', '"c"'], ["a", "b", '"c"']),
    ],
)
def test_one_by_one(split, values, expected) -> None:
    assert list(single("--o", Meaning(("--o",), split=split), values)) == expected


@pytest.mark.parametrize(
    ("split", "value", "expected"),
    [
        ("json", '{"a": "x", "b": 2, "c": null}', {"a": "x", "b": "2", "c": "null"}),
        (";", "a=x;b=2;", {"a": "x", "b": "2"}),
    ],
)
def test_by_name(split, value, expected) -> None:
    assert parts("--o", Meaning(("--o",), split=split), value) == expected


def test_what_holds_nothing() -> None:
    with pytest.raises(OptionError, match="--o is not valid JSON: "):
        list(single("--o", Meaning(("--o",), split="json"), ["["]))
