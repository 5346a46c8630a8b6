"""Where fields were read, and the hash of their lines."""

import ast

import pytest

from specvino.upstream.described import Unreadable
from specvino.upstream.modules import Sources
from specvino.upstream.places import of_node, quoted


def read(folder, text):
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(text)
    module = Sources({"tiny": folder}).at("tiny/__init__.py")
    return module, ast.parse(text).body


def test_a_statement(tmp_path) -> None:
    module, (_, field) = read(tmp_path / "tiny", "import a\nseed: int = Field(\n    0,\n)\n")
    assert of_node(module, field).startswith("2-4 ")
    assert module.file == "tiny/__init__.py"


def test_decorators_belong_to_a_method(tmp_path) -> None:
    module, (function,) = read(tmp_path / "tiny", "@check\ndef f(): pass\n")
    assert of_node(module, function).startswith("1-2 ")


def test_only_the_lines_count(tmp_path) -> None:
    texts = ("seed: int = 0\n", "import a\nif a:\n    seed: int = 0\n", "seed: int = 1\n")
    found = []
    for number, text in enumerate(texts):
        module, body = read(tmp_path / str(number) / "tiny", text)
        last = body[-1].body[0] if isinstance(body[-1], ast.If) else body[-1]
        found.append(of_node(module, last).split()[1])
    assert found[0] == found[1] != found[2]


def test_quoted_names(tmp_path) -> None:
    (tmp_path / "a.cpp").write_text(
        'doc.FindMember("seed");\nput("{\\"id\\": 1}"); // seed\nlog("a text");\nget("seed");'
    )
    (tmp_path / "b.go").write_text('N int `json:"n,omitempty"`')
    found = quoted(tmp_path, ["a.cpp", "b.go"])
    assert found["a.cpp"].keys() == {"seed", "id"}
    assert found["a.cpp"]["seed"].startswith("1,4 ")
    assert found["b.go"].keys() == {"n"}


def test_no_such_file(tmp_path) -> None:
    with pytest.raises(Unreadable, match=r"c\.cpp can't be read: No such file"):
        quoted(tmp_path, ["c.cpp"])
