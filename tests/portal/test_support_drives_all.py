"""The YAML files drive everything else, with no other edit: a changed level the matrix, the system's document and its
client; a bound what the server takes; a dialect of which nothing is known all commands."""

import json
import re
from pathlib import Path

import httpx
import pytest
from support.app import MINIMAL, error_of
from support.project_copy import ProjectCopy
from support.serving import serving

from specvino.document import yaml_text
from specvino.generated.systems import SYSTEMS

TITLE = "Text: Generation & Inference"

MATRIX = """
from specvino.cli.docs import parts
from specvino.portal.pages.matrix import Matrix
from specvino.portal.source import Source
print(*(page.text for page in Matrix(Source(), parts().evidence, "").pages()))
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    """A project with a level and a bound changed and a ninth system, generated once: that takes most of the time."""
    copy = ProjectCopy(tmp_path_factory.mktemp("project"))
    dialect = copy.root / "openapi" / "dialects" / "vllm.yaml"
    content = yaml_text.load(dialect.read_text())
    levels = content["fields"]["chat"]["request"]
    assert "level" not in levels["min_p"] | levels["top_p"], "so they are full"
    levels["min_p"] = "refused"
    dialect.write_text(yaml_text.dump(content))
    sampling = copy.root / "openapi" / "schemas" / "sampling.yaml"
    text = sampling.read_text()
    assert text.count("maximum: 2\n    default: 1") == 1
    sampling.write_text(text.replace("maximum: 2\n    default: 1", "maximum: 1.5\n    default: 1"))

    printed = copy.run("specvino.cli", "spec", "new-dialect", "tgi", "--title", TITLE)
    written = ("openapi/dialects/tgi.yaml", "upstream/tables/tgi.yaml", "openapi/vocabulary.yaml")
    assert printed.startswith("".join(f"Wrote {path}\n" for path in written))
    assert "specvino conform --dialect tgi URL" in printed

    copy.run("specvino.codegen")  # with the lint
    return copy


def outcome(changed: ProjectCopy, matrix: str, client: Path, name: str) -> tuple[str, bool, bool]:
    """The level in vLLM's cell of the matrix, whether its document has values of it, whether its client has it."""
    row = re.search(rf'<tr id="chat\.{name}".*?</tr>', matrix, re.DOTALL)
    assert row
    cells = re.findall(r'<td><a class="level (\w+)"', row[0])
    document = json.loads((changed.root / "generated" / "dialects" / "vllm.json").read_text())
    body = document["paths"]["/chat/completions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    component = body["$ref"].rsplit("/", 1)[-1]
    models = "\n".join(path.read_text() for path in client.rglob("*.py"))
    of_chat = re.search(rf"^class {component}\b.*?(?=^class |\Z)", models, re.DOTALL | re.MULTILINE)
    assert of_chat
    field = document["components"]["schemas"][component]["properties"].get(name, {"not": {}})
    return cells[list(SYSTEMS).index("vllm")], field.get("not") != {}, f"{name}:" in of_chat[0]


def test_a_level_in_a_dialect_file(changed: ProjectCopy) -> None:
    client = changed.root / "client"
    changed.run("specvino.cli", "sdk", "python", "--dialect", "vllm", "-o", client)
    matrix = changed.run_code(MATRIX)  # test_build.py holds that it's a page of the site
    assert outcome(changed, matrix, client, "min_p") == ("refused", False, False)
    assert outcome(changed, matrix, client, "top_p") == ("full", True, True)


def test_a_bound_is_a_bound_of_the_server(changed: ProjectCopy) -> None:
    env = {"PYTHONPATH": str(changed.root / "package")}
    with serving("--engine", "scripted", "--served-model-name", "m", env=env) as server:
        refused = httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.8})
        assert "at most 1.5" in error_of(refused, 400, "decimal_above_max_value")["message"]
        assert httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.5}).status_code == 200


def test_every_command_takes_a_ninth_system(changed: ProjectCopy) -> None:
    document = json.loads(changed.run("specvino.cli", "spec", "--dialect", "tgi"))
    assert document["info"]["title"] == f"The OpenAI-compatible API of {TITLE}"
    assert "/chat/completions" in document["paths"]
    levels = changed.run("specvino.cli", "spec", "explain", "chat.min_p")
    assert ["tgi", "unknown"] in [line.split() for line in levels.splitlines()]
    with serving("--engine", "scripted") as server:
        report = changed.run("specvino.cli", "conform", "--dialect", "tgi", server.url)
    assert "and the document of tgi" in report
    assert " 0 fail" in report
