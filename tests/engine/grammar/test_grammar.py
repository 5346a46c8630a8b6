"""The package by itself: what it imports, what it exports, and the example of its README."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from specvino.engine import grammar

README = Path(grammar.__file__).with_name("README.md")

LOADED = """
import sys
before = set(sys.modules)
from specvino.engine.grammar import {name}
print(*(set(sys.modules) - before))
"""


def output(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_it_imports_nothing_else_of_specvino_and_two_dependencies() -> None:
    loaded = set(output(LOADED.format(name="lower_json_schema")).split())
    ours = {name for name in loaded if name.partition(".")[0] == "specvino"}
    assert {name for name in ours if not name.startswith("specvino.engine.grammar")} <= {"specvino", "specvino.engine"}
    others = {name.partition(".")[0] for name in loaded - ours}
    # Lark imports regex where it is installed.
    assert others - sys.stdlib_module_names - {"regex"} == {"jsonschema_rs", "lark"}


def test_a_process_that_passes_grammars_on_imports_nothing_that_makes_them() -> None:
    loaded = {name.partition(".")[0] for name in output(LOADED.format(name="LoweredConstraint")).split()}
    assert "specvino" in loaded
    assert not loaded & {"jsonschema_rs", "lark"}


def test_everything_public_is_documented() -> None:
    for name in grammar.__all__:
        assert name.isupper() or name in ("Path", "TagFormat") or getattr(grammar, name).__doc__, name


def test_modules_that_are_not_public_have_private_names() -> None:
    modules = {path.name for path in files(grammar).iterdir() if path.name.endswith(".py") or path.is_dir()}
    assert all(name.startswith("_") for name in modules)


def test_it_is_typed() -> None:
    assert README.with_name("py.typed").is_file()


def test_the_example_prints_what_the_readme_says() -> None:
    match = re.search(r"```python\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert match is not None
    assert output(match[1]) == match[2]
