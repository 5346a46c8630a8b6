"""Values that are known without running anything."""

import ast

import pytest
from support.python_sources import package

from specvino.upstream.modules import NotConstant, Sources, constant


@pytest.fixture
def value(tmp_path):
    files = {
        "limits.py": "LIMIT: int = 4\nNAMES = frozenset({'a', 'b'})\nclass Role:\n    USER = 'user'\n",
        "main.py": "from . import limits\nfrom .limits import LIMIT as MOST, Role\nTWICE = MOST * 2\n",
    }
    sources = Sources({"server": package(tmp_path, "server", files)})

    def read(text):
        return constant(sources, sources.at("server/main.py"), ast.parse(text, mode="eval").body)

    return read


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("-(2**63)", -(2**63)),
        ("2**63 - 1", 2**63 - 1),
        ("1 << 10", 1024),
        ("TWICE", 8),
        ("limits.LIMIT + 0.5", 4.5),
        ("Role.USER", "user"),
        ("['a', MOST]", ["a", 4]),
        ("{'a': [1]}", {"a": [1]}),
        ("dict()", {}),
    ],
)
def test_known(value, text, known) -> None:
    assert value(text) == known


def test_sets_are_lists(value) -> None:
    assert sorted(value("limits.NAMES")) == ["a", "b"]


@pytest.mark.parametrize("text", ["compute()", "LOST", "Role.LOST", "'a' + 'b'", "2**9999999", "-Role.USER", "..."])
def test_not_known(value, text) -> None:
    with pytest.raises(NotConstant):
        value(text)
