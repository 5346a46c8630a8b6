"""Drawing bodies, and running classes with stubs: without a system's own packages."""

import json
import subprocess
import sys
from pathlib import Path

from specvino.upstream.described import Described
from specvino.upstream.side import Side
from verdicts import bodies

SCHEMA = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "maximum": 7},
        "parts": {"type": "array", "items": {"type": "object", "properties": {"word": {"enum": ["a", "b"]}}}},
    },
}

PROTOCOL = """
from heavy import Tensor
from tiny.other import Base
from tiny import Size

class Request(Base):
    size: Size
    tensor: Tensor = None
"""
OTHER = """
from heavy import cached
from pydantic import BaseModel, field_validator

class Base(BaseModel):
    @field_validator("size", check_fields=False)
    @classmethod
    def small(cls, value):
        if value == 5:
            return cached(value)
        if value > 7:
            raise ValueError("too large")
        return value
"""


def test_each_place_gets_the_values_at_its_bounds() -> None:
    drawn = list(bodies.draws(Side(Described(SCHEMA, {})), SCHEMA, {"size": 1}))
    sizes = [draw.tried for draw in drawn if draw.path == ".size" and not draw.absent]
    assert {7, 8, 6, None, "text"} <= {value for value in sizes if not isinstance(value, (list, dict))}
    assert any(draw.absent and draw.body == {} for draw in drawn)
    assert {"size": 1, "parts": [{"word": "b"}]} in [draw.body for draw in drawn]
    assert {"size": 1, bodies.UNKNOWN: 1} in [draw.body for draw in drawn]


def test_a_part_of_the_body_is_changed_in_its_place() -> None:
    body = {"size": 1, "parts": [{"word": "a"}, {"word": "b"}]}
    drawn = list(bodies.draws(Side(Described(SCHEMA, {})), SCHEMA, body))
    changed = [draw for draw in drawn if draw.path == ".parts[].word" and draw.tried == "text"]
    assert [draw.body["parts"] for draw in changed[:2]] == [
        [{"word": "text"}, {"word": "b"}],
        [{"word": "a"}, {"word": "text"}],
    ]
    assert changed[0].around == body


def test_two_fields_at_once() -> None:
    pairs = list(bodies.pairs({"a": [1, 2], "b": [3]}, {"size": 1}))
    assert pairs == [(("a", "b"), {"size": 1, "a": 1, "b": 3}), (("a", "b"), {"size": 1, "a": 2, "b": 3})]


def test_what_is_logged_decides_nothing(tmp_path) -> None:
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "protocol.py").write_text(
        "from pydantic import BaseModel, field_validator\n"
        "from tiny.logs import api_logger\n"
        "class Request(BaseModel):\n"
        "    size: int\n"
        "    @field_validator('size')\n"
        "    def small(cls, value):\n"
        "        api_logger.warning('obsolete')\n"
        "        return value\n"
    )
    settings = {"classes": {"chat": "tiny/protocol.py:Request"}, "run": ["tiny.protocol"], "absent": []}
    done = subprocess.run(
        [sys.executable, Path(bodies.__file__).with_name("judge.py"), "tiny", package, json.dumps(settings)],
        input=json.dumps(["chat", {"size": 1}]) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[1]) is None


def test_classes_run_with_stubs(tmp_path) -> None:
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "__init__.py").write_text("import never_run\nfrom .sizes import Size")
    (package / "sizes.py").write_text("Size = int")
    (package / "protocol.py").write_text(PROTOCOL)
    (package / "other.py").write_text(OTHER)
    settings = {
        "classes": {"chat": "tiny/protocol.py:Request"},
        "run": ["tiny.protocol", "tiny.other", "tiny.sizes"],
        "absent": ["heavy"],
    }
    asked = [{"size": 1, "tensor": [2]}, {"size": 8}, {"size": "1"}, {"size": 5}]
    done = subprocess.run(
        [sys.executable, Path(bodies.__file__).with_name("judge.py"), "tiny", package, json.dumps(settings)],
        input="".join(json.dumps(["chat", body]) + "\n" for body in asked),
        capture_output=True,
        text=True,
        check=True,
    )
    schemas, *verdicts = map(json.loads, done.stdout.splitlines())
    assert schemas["chat"]["required"] == ["size"]
    assert verdicts == [None, "size: Value error, too large", "=", "? heavy.cached"]
