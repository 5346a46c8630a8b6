"""The Python API: what the public packages name in `__all__`, read from their source."""

from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from pathlib import Path

import griffe

from specvino.portal.pages import Page

PACKAGES = ("specvino.document", "specvino.conformance", "specvino.engine.grammar")
"""The packages that other programs can import. They are read and not imported, because the portal doesn't need them."""

FOLDERS = Path(__file__).parents[2]
"""The folder with the packages' folders, beside that of the portal in the project as in the wheel."""

HEAD = """\
# Python API

What other programs can import. It is typed (`py.typed`) and stays compatible within a major version. Everything else in
the package is private and can change in any version, including the modules and unlisted names of these packages.
"""


def pages() -> Iterator[Page]:
    yield Page("python-api.md", "Python API", "".join(_text()))


def _text() -> Iterator[str]:
    yield HEAD
    for package in PACKAGES:
        module = _module(package)
        if module.exports:
            yield f"\n## {package} {{ #{package} }}\n\n{_docstring(module)}\n"
            for name in sorted(map(str, module.exports), key=str.lower):
                yield from _described(f"{package}.{name}", _definition(module, name))


def _described(path: str, item: griffe.Object) -> Iterator[str]:
    yield f"\n### {item.name} {{ #{path} }}\n\n```python\n{_signature(item)}\n```\n\n{_docstring(item)}\n"
    members = [member for member in item.members.values() if isinstance(member, griffe.Object)]
    public = [member for member in members if not member.name.startswith("_") and (member.docstring or _typed(member))]
    if item.is_class and public:
        yield "\n| member | what it is |\n| --- | --- |\n"
        for member in public:
            text = " ".join(_docstring(member).split()).replace("|", "\\|")
            yield f"| `{_signature(member).replace('|', chr(92) + '|')}` | {text} |\n"


def _typed(member: griffe.Object) -> bool:
    return isinstance(member, griffe.Attribute) and member.annotation is not None


def _signature(item: griffe.Object) -> str:
    """Returns the signature of a function or class, or the declaration of an attribute."""
    if isinstance(item, griffe.Function):
        return item.signature()
    if isinstance(item, griffe.Class):
        if isinstance(made := item.members.get("__init__"), griffe.Function):
            return f"class {made.signature(return_type=False, name=item.name)}"
        bases = ", ".join(map(str, item.bases))
        return f"class {item.name}({', '.join(_fields(item)) if 'dataclass' in item.labels else bases})"
    if isinstance(item, griffe.Attribute) and item.annotation is not None:
        return f"{item.name}: {item.annotation}"
    return f"{item.name} = {item.value}" if isinstance(item, griffe.Attribute) else item.name


def _fields(item: griffe.Class) -> Iterator[str]:
    """Yields the fields of a dataclass, without those with a leading underscore."""
    for name, member in item.members.items():
        if isinstance(member, griffe.Attribute) and "property" not in member.labels and not name.startswith("_"):
            default = "" if member.value is None else f" = {member.value}"
            yield f"{name}: {member.annotation}{default}"


def _docstring(item: griffe.Object) -> str:
    return cleandoc(item.docstring.value) if item.docstring else ""


def _definition(module: griffe.Module, name: str) -> griffe.Object:
    """Returns the definition of a module's name, from the module that defines it."""
    member = module.members[name]
    if not isinstance(member, griffe.Alias):
        return member
    owner, _, target = member.target_path.rpartition(".")
    return _definition(_module(owner), target)


@cache
def _module(name: str) -> griffe.Module:
    path = FOLDERS.joinpath(*name.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return griffe.visit(name, file, file.read_text("utf-8"))
