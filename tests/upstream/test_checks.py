"""Plain checks say which values are refused; others say nothing."""

import pytest
from support.python_sources import package

from specvino.document.validator import Validator
from specvino.upstream.checks import Checks
from specvino.upstream.modules import Definition, Sources

RAISE = "raise ValueError"


def params(sources: Sources) -> Definition:
    found = sources.find(sources.at("server/params.py"), "Params")
    assert isinstance(found, Definition)
    return found


def method(tmp_path, body):
    lines = "".join(f"\n        {line}" for line in body.splitlines())
    helper = f"def positive(value, name):\n    if value <= 0:\n        {RAISE}\n    positive(value, name)\n"
    source = f"MOST = 20\n{helper}\nclass Params:\n    def verify(self, data):{lines}"
    sources = Sources({"server": package(tmp_path, "server", {"params.py": source})})
    return Checks(sources).of_method(params(sources), "verify")


@pytest.mark.parametrize(
    ("condition", "refused", "taken"),
    [
        ("self.x < 0", [-1, -0.5], [0, 1, None, "text"]),
        ("0 > self.x", [-1], [0]),
        ("not 0.0 < self.x <= 1.0", [0, 1.5], [0.5, 1, None]),
        ("not (self.x is None or self.x >= 0)", [-1], [None, 0]),
        ("not len(self.x) == 2", ["a"], ["ab", 3]),
        ("not -2.0 <= self.x <= 2.0", [-3, 2.5], [-2, 2]),
        ("self.x > MOST", [21], [20]),
        ("self.x > most", [41], [40]),
        ("self.x is not None and self.x < 1", [0], [None, 1]),
        ("self.x is not None and self.x != -1 and self.x < 0", [-2], [None, -1, 0]),
        ("self.x < 0 or self.x > MOST", [-1, 21], [0, 20]),
        ("self.x not in ('a', 'b')", ["c"], ["a", "b"]),
        ("self.x == []", [[]], [[1], None]),
        ("len(self.x) > 2", ["abc", [1, 2, 3]], ["ab", [], 5]),
        ("len(self.x) == 0", ["", []], ["a", [1]]),
        ("not self.x", ["", 0, [], None], ["a", 1]),
        ("self.x and self.x < -2", [-3], [0, None, -2]),
        ("isinstance(self.x, str)", ["a"], [1, None]),
        ("isinstance(self.x, (bool, float))", [True, 0.5], [1]),
        ("data.get('x') is not None", [1], [None]),
        ("(y := self.x) is not None and y < 0", [-1], [None, 0]),
    ],
)
def test_a_condition(tmp_path, condition, refused, taken) -> None:
    said = method(tmp_path, f"most = MOST * 2\nif {condition}:\n    {RAISE}")
    judge = Validator(said["x"])
    assert [value for value in refused if judge.fits(value)] == []
    assert [value for value in taken if not judge.fits(value)] == []


@pytest.mark.parametrize(
    "body",
    [
        f"if self.x > self.y:\n    {RAISE}",
        f"if self.x < 0 and self.y:\n    {RAISE}",
        f"if self.x < 0:\n    if self.y:\n        {RAISE}",
        f"if self.x < compute():\n    {RAISE}",
        f"if compute(self.x):\n    {RAISE}",
        "if self.x < 0:\n    warn()",
        f"self.x = abs(self.x)\nif self.x < 1:\n    {RAISE}",
        f"if self.y:\n    return\nif self.x < 0:\n    {RAISE}",
        f"if compute():\n    return\nif self.x < 0:\n    {RAISE}",
        f"for each in data:\n    if each:\n        return\nif self.x < 0:\n    {RAISE}",
        f"if self.y:\n    if self.z:\n        return\nif self.x < 0:\n    {RAISE}",
    ],
)
def test_what_is_not_plain_says_nothing(tmp_path, body) -> None:
    assert "x" not in method(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        f"if self.y < 0:\n    {RAISE}\nif self.x < 0:\n    {RAISE}",
        f"if compute():\n    warn()\nif self.x < 0:\n    {RAISE}",
        f"if not isinstance(data, dict):\n    return data\nif self.x < 0:\n    {RAISE}",
        f"if self.x is None:\n    return\nif self.x < 0:\n    {RAISE}",
        f"if self.y < 0 or self.x < 0 or self.x > self.y:\n    {RAISE}",
        f"if self.x >= 0:\n    pass\nelse:\n    {RAISE}",
        f"if self.x is not None:\n    if self.x < 0:\n        {RAISE}",
        f"y = self.x\nif y < 0:\n    {RAISE}",
    ],
)
def test_what_stands_before_or_around(tmp_path, body) -> None:
    judge = Validator(method(tmp_path, body)["x"])
    assert judge.fits(0)
    assert not judge.fits(-1)


def test_a_function_that_is_called(tmp_path) -> None:
    judge = Validator(method(tmp_path, "positive(self.x, 'x')\nunknown(self.y)")["x"])
    assert judge.fits(1)
    assert not judge.fits(0)
    assert method(tmp_path, "if self.y:\n    positive(self.x, 'x')") == {}


def test_a_method_that_is_not_there(tmp_path) -> None:
    sources = Sources({"server": package(tmp_path, "server", {"params.py": "class Params: ..."})})
    assert Checks(sources).of_method(params(sources), "verify") is None
