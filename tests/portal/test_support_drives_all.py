"""A field's support in a dialect file drives the matrix, the system's document and its client, with no other edit."""

import json
import re

import pytest
from support.project_copy import ProjectCopy

from specvino.document import yaml_text


class Tree(ProjectCopy):
    def build(self) -> None:
        self.run("specvino.cli", "docs", "build", "-o", self.root / "site")
        self.run("specvino.cli", "sdk", "python", "--dialect", "vllm", "-o", self.root / "client")

    def outcome(self, name: str) -> tuple[str, bool, bool]:
        """The level in vLLM's cell of the matrix, whether its document has the field, whether its client does."""
        row = re.search(rf'<tr id="chat\.{name}".*?</tr>', (self.root / "site" / "matrix.html").read_text(), re.DOTALL)
        assert row
        cell = re.search(r'<td data-system="vllm"><span class="level (\w+)"', row[0])
        assert cell
        document = json.loads((self.root / "generated" / "dialects" / "vllm.json").read_text())
        body = document["paths"]["/chat/completions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        component = body["$ref"].rsplit("/", 1)[-1]
        models = "\n".join(each.read_text() for each in (self.root / "client").rglob("*.py"))
        of_chat = re.search(rf"^class {component}\b.*?(?=^class |\Z)", models, re.DOTALL | re.MULTILINE)
        assert of_chat
        return cell[1], name in document["components"]["schemas"][component]["properties"], f"{name}:" in of_chat[0]


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_a_level_in_a_dialect_file(tree) -> None:
    dialect = tree.root / "openapi" / "dialects" / "vllm.yaml"
    said = yaml_text.load(dialect.read_text())
    levels = said["fields"]["chat"]["request"]
    assert levels["min_p"]["level"] == levels["top_p"]["level"] == "full"

    levels["min_p"] = "refused"
    dialect.write_text(yaml_text.dump(said))
    tree.run("specvino.codegen")
    tree.build()

    assert tree.outcome("min_p") == ("refused", False, False)
    assert tree.outcome("top_p") == ("full", True, True)
