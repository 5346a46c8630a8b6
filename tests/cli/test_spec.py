"""specvino spec, from the installed package's files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from specvino.cli import main
from specvino.document.loading import dialect_file, dialects, load, lowered, systems, whole
from specvino.document.openapi_30 import to_30
from specvino.document.transforms import for_generators

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "generated"


def spec(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["spec", *arguments])


def test_prints_the_document() -> None:
    run = spec()
    assert run.exit_code == 0
    assert run.stdout == (GENERATED / "openapi.json").read_text("utf-8")


@pytest.mark.parametrize(("version", "document"), [("3.2", whole()), ("3.1", for_generators(lowered()))])
def test_versions(version, document) -> None:
    assert json.loads(spec("--openapi", version).stdout) == document


@pytest.mark.parametrize(
    ("arguments", "original"), [([], lowered()), (["--dialect", "vllm"], load(dialect_file("vllm")))]
)
def test_the_oldest_version_says_what_is_lost(arguments, original) -> None:
    run = spec("--openapi", "3.0", *arguments)
    assert run.exit_code == 0
    document = json.loads(run.stdout)
    assert document == to_30(for_generators(original))
    assert run.stderr.startswith("specvino: keywords that OpenAPI 3.0 lacks, listed in info/x-lost: ")
    for keyword, pointers in document["info"]["x-lost"].items():
        assert f"{keyword} ({len(pointers)})" in run.stderr


def test_as_yaml() -> None:
    assert yaml.load(spec("--format", "yaml").stdout, yaml.CSafeLoader) == whole()


def test_into_a_file(tmp_path) -> None:
    run = spec("-o", str(tmp_path / "api.json"))
    assert run.output == ""
    assert (tmp_path / "api.json").read_bytes() == (GENERATED / "openapi.json").read_bytes()


@pytest.mark.parametrize(
    ("name", "words"), [("no/api.json", "No such file"), ("", "directory"), ("/dev/full", "No space left")]
)
def test_into_a_file_that_can_not_be(tmp_path, name, words) -> None:
    file = tmp_path / name
    run = spec("-o", str(file))
    assert run.exit_code == 2
    assert run.output.startswith(f"specvino: {file} can't be written: ")
    assert words in run.output
    assert run.output.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["--dialect", "ovms"], ["explain", "chat.stop"]])
def test_on_a_full_disk(arguments) -> None:
    # In a process of its own: what the buffer still holds must not fail once more when Python ends.
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "specvino.cli", "spec", *arguments], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert run.returncode == 2
    assert run.stderr == "specvino: standard output can't be written: No space left on device\n"


def test_help_says_which_version_is_printed() -> None:
    assert "By default, 3.2, or 3.1 with --dialect." in " ".join(spec("--help").output.split())


@pytest.mark.parametrize(
    ("option", "value", "words"), [("--openapi", "3.3", "3.2, 3.1"), ("--format", "xml", "json, yaml")]
)
def test_unknown_values(option, value, words) -> None:
    run = spec(option, value)
    assert run.exit_code == 2
    assert option in run.output
    assert words in run.output


def test_lint() -> None:
    run = spec("lint", "--root", str(ROOT))
    assert (run.exit_code, run.output) == (0, "")


def test_lint_of_a_broken_source(tmp_path) -> None:
    shutil.copytree(ROOT / "openapi", tmp_path / "openapi")
    request = tmp_path / "openapi" / "schemas" / "chat" / "request.yaml"
    request.write_text(request.read_text().replace("maxItems: 4096", ""))
    run = spec("lint", "--root", str(tmp_path))
    assert run.exit_code == 1
    assert run.output.splitlines() == [
        "bounds: CreateChatCompletionRequest/properties/messages: an array needs maxItems",
        f"specvino: 1 problem in {tmp_path}/openapi",
    ]


def test_lint_of_nothing(tmp_path) -> None:
    run = spec("lint", "--root", str(tmp_path))
    assert run.exit_code == 2
    assert "openapi.yaml does not exist" in run.output
    assert run.output.count("\n") == 1


@pytest.mark.parametrize("system", systems())
def test_dialects(system) -> None:
    run = spec("--dialect", system)
    assert run.exit_code == 0
    assert run.stdout == (GENERATED / "dialects" / f"{system}.json").read_text("utf-8")
    assert json.loads(run.stdout)["openapi"].startswith("3.1")


def test_a_dialect_as_yaml_into_a_file(tmp_path) -> None:
    run = spec("--dialect", "ovms", "--openapi", "3.1", "--format", "yaml", "-o", str(tmp_path / "ovms.yaml"))
    assert (run.exit_code, run.output) == (0, "")
    written = yaml.safe_load((tmp_path / "ovms.yaml").read_text("utf-8"))
    assert written == for_generators(load(dialect_file("ovms")))


def test_a_dialect_in_a_version_that_is_not_there() -> None:
    run = spec("--dialect", "ovms", "--openapi", "3.2")
    assert run.exit_code == 2
    assert "only 3.1 and 3.0 are available" in run.output


def test_an_unknown_dialect() -> None:
    run = spec("--dialect", "../openapi")
    assert run.exit_code == 2
    assert f"unknown dialect '../openapi'; did you mean openai? available: {', '.join(dialects())}" in run.output


@pytest.mark.parametrize("name", ["chat.temprature", "temperature"])
def test_explain_suggests(name) -> None:
    run = spec("explain", name)
    assert run.exit_code == 2
    assert f"unknown field {name}" in run.output
    assert "chat.temperature" in run.output
    assert run.output.count("\n") == 1


def test_explain() -> None:
    run = spec("explain", "chat.temperature")
    assert run.exit_code == 0
    assert run.output.startswith("chat.temperature  The sampling temperature.")


@pytest.mark.parametrize("name", ["", " "])
def test_explain_nothing(name) -> None:
    run = spec("explain", name)
    assert run.exit_code == 2
    assert run.output == "specvino: a field name is required, such as chat.temperature or chat.response.usage\n"
