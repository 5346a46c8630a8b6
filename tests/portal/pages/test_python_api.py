"""The page of the Python API has what the public packages name, each with a signature and a docstring."""

import importlib
import re
from types import ModuleType

import pytest

from specvino import document
from specvino.portal.pages.python_api import PACKAGES, pages

TEXT = next(pages()).text
SECTIONS = dict(re.findall(r"^### \w+ \{ #(\S+) \}\n\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE))


def public() -> list[tuple[ModuleType, str]]:
    modules = [importlib.import_module(package) for package in PACKAGES]
    return [(module, name) for module in modules for name in getattr(module, "__all__", ())]


@pytest.mark.parametrize(("module", "name"), public(), ids=lambda value: getattr(value, "__name__", value))
def test_each_public_name_is_described(module: ModuleType, name: str) -> None:
    assert hasattr(module, name)
    match = re.fullmatch(r"```python\n(.+)\n```\n\n(.*)", SECTIONS[f"{module.__name__}.{name}"], re.DOTALL)
    assert match
    assert name in match[1]
    assert match[2].strip(), "it needs a docstring"


def test_nothing_else_is() -> None:
    assert SECTIONS.keys() == {f"{module.__name__}.{name}" for module, name in public()}


def test_what_is_shown_of_a_class_and_of_a_function() -> None:
    operation = SECTIONS["specvino.document.Operation"]
    assert operation.startswith("```python\nclass Operation(path: str, method: str, item: Mapping[str, Any], ")
    assert "| `body: Schema \\| None` | The schema of the JSON body; None if it has none. |\n" in operation
    assert "| `parameters_in(location: str) -> list[dict[str, Any]]` | Returns" in operation
    assert "class Validators(document: Schema, formats: bool = True)\n" in SECTIONS["specvino.document.Validators"]
    assert "_registry" not in SECTIONS["specvino.document.Validators"]
    assert "at(document: Any, pointer: str) -> Any\n" in SECTIONS["specvino.document.at"]


def test_names_that_modules_have_too_are_functions() -> None:
    assert callable(document.operations)
    assert callable(document.beyond_bounds)
