"""Fields that serializers leave out of an answer, by the forms of their statements."""

import pytest
from support.python_sources import Read

from specvino.upstream.classes import Reading

TEXT = {"type": "string"}
CLASS = """
class Answer(BaseModel):
    text: Optional[str] = None
    name: Optional[str] = None
    calls: list[str] = []
    anything: Optional[object] = None
    @model_serializer(mode="wrap")
    def _serialize(self, handler):
        data = handler(self)
"""


def answer(folder, statements: str, reading: Reading = Reading.WRITTEN):
    body = "".join(f"        {line}\n" for line in statements.splitlines())
    return Read(folder, f"{CLASS}{body}        return data\n", reading).schema("Answer")


@pytest.mark.parametrize(
    "statements",
    [
        "if self.text is None:\n    data.pop('text', None)",
        "if data.get('text') is None:\n    data.pop('text')",
        "for key in ('text', 'missing'):\n    if data.get(key) is None:\n        data.pop(key, None)",
    ],
)
def test_a_member_that_is_left_out_if_it_is_null(tmp_path, statements) -> None:
    schema = answer(tmp_path, statements)
    assert schema["properties"]["text"] == TEXT
    assert schema["required"] == ["name", "calls", "anything"]
    taken = answer(tmp_path, statements, Reading.TAKEN)
    assert {"type": "null"} in taken["properties"]["text"]["anyOf"]


def test_a_member_of_any_value_that_is_left_out_if_it_is_null(tmp_path) -> None:
    schema = answer(tmp_path, "if self.anything is None:\n    data.pop('anything', None)")
    assert schema["properties"]["anything"]["not"] == {"type": "null"}


def test_a_list_that_is_left_out_if_it_is_empty(tmp_path) -> None:
    schema = answer(tmp_path, "if len(data.get('calls', [])) == 0:\n    data.pop('calls', None)")
    assert schema["properties"]["calls"] == {"type": "array", "items": TEXT, "default": [], "minItems": 1}
    assert "calls" not in schema["required"]


def test_an_answer_without_null(tmp_path) -> None:
    schema = answer(tmp_path, "return {k: v for k, v in data.items() if v is not None}")
    assert schema["properties"]["text"] == schema["properties"]["name"] == TEXT
    assert schema["required"] == []


@pytest.mark.parametrize(
    "statements",
    [
        "if self.text is None:\n    data.pop('name', None)",
        "if self.text:\n    data.pop('text', None)",
        "if self.text is None:\n    data['delta'].pop('text', None)",
        "if self.text is None:\n    data.pop('text', None)\nelse:\n    data.pop('name', None)",
        "data = {k: v for k, v in data.items() if k in type(self).model_fields}",
        "return {k: v for k, v in data.items() if k is not None}",
    ],
)
def test_other_statements_are_skipped(tmp_path, statements) -> None:
    assert answer(tmp_path, statements)["required"] == ["text", "name", "calls", "anything"]
