"""The source, openapi/: reads its YAML files, and bundles them into one document with components."""

from pathlib import Path
from typing import Any

import yaml

from specvino.document.walk import DATA
from specvino.document.yaml_text import UniqueKeys


class SpecError(Exception):
    """The source can't be read or put together; `str()` names the file."""


class _Loader(UniqueKeys):
    """Loads dates as strings."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(path: Path) -> Any:
    """Returns the content of one YAML file. Raises SpecError."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise SpecError(f"{path}: {error}") from error


# Components other than schemas; a file has them below these keys.
KINDS = ("responses", "headers", "parameters")

# Keys whose value is a whole file.
WHOLE_FILES = ("x-stream", "aside")


class Bundler:
    """Bundles many files into one document. Every reference into a file becomes a component, named by its last part.

    `other.yaml#/Name` is a schema; `other.yaml#/responses/Name` and `…#/headers/Name` are responses and headers. A path
    item, the table of a stream and the schema of events beside it are referred to as a whole file and inlined.

    An object's `x-include` lists maps of properties that it shares with others (`other.yaml#/Name`): they are added
    after its own. What the object itself states for such a property, such as x-handling, takes precedence. So does an
    `x-include` among the headers of an answer.

    An `x-implementation-note` may be a list of texts and references to texts, which are joined.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.files: dict[Path, Any] = {}
        self.origins: dict[tuple[str, str], tuple[Path, str]] = {}
        self.included: set[tuple[Path, str]] = set()
        self.components: dict[str, dict[str, Any]] = {}

    def run(self) -> dict[str, Any]:
        document: dict[str, Any] = dict(self._file(self.root))
        self.components = {kind: dict(named) for kind, named in document.get("components", {}).items()}
        paths = {}
        for path, item in document["paths"].items():
            file = self._target(item["$ref"], self.root)[0] if "$ref" in item else self.root
            paths[path] = self._walk(self._file(file) if "$ref" in item else item, file)
        document["paths"] = paths
        document["components"] = {kind: dict(sorted(named.items())) for kind, named in sorted(self.components.items())}
        return document

    def schema_files(self) -> dict[str, str]:
        """Returns, by component, the file below the root's folder that defines a schema."""
        schemas = {name: file for (kind, name), (file, _) in self.origins.items() if kind == "schemas"}
        return {name: file.relative_to(self.root.parent).as_posix() for name, file in sorted(schemas.items())}

    def unused(self) -> list[str]:
        """Returns unused definitions in files that are used, and unused files."""
        folder = self.root.parent
        result = []
        uses = {*self.origins.values(), *self.included}
        for file in sorted({file for file, _ in uses} - {self.root}):
            names = {f"/{name}" for name in self.files[file] if name not in KINDS}
            names |= {f"/{kind}/{name}" for kind in KINDS for name in self.files[file].get(kind, ())}
            unused = names - {fragment for origin, fragment in uses if origin == file}
            result += [f"{file.relative_to(folder)}#{name}" for name in sorted(unused)]
        sources = {*folder.glob("*.yaml"), *folder.glob("paths/**/*.yaml"), *folder.glob("schemas/**/*.yaml")}
        sources |= {*folder.glob("streams/**/*.yaml")}
        beside = {folder / f"{name}.yaml" for name in ("conditions", "errors", "vocabulary")}
        unread = sources - self.files.keys() - beside
        return result + [str(file.relative_to(folder)) for file in sorted(unread)]

    def _file(self, path: Path) -> Any:
        if path not in self.files:
            self.files[path] = load(path)
        return self.files[path]

    def _target(self, reference: str, base: Path) -> tuple[Path, str]:
        file, _, fragment = reference.partition("#")
        return ((base.parent / file).resolve() if file else base), fragment

    def _walk(self, node: Any, base: Path, names: bool = False) -> Any:
        if isinstance(node, list):
            return [self._walk(child, base) for child in node]
        if not isinstance(node, dict):
            return node
        result = {}
        for key, value in node.items():
            if names:
                result[key] = self._walk(value, base)
            elif key == "$ref":
                result[key] = self._hoist(value, base)
            elif key == "mapping" and isinstance(value, dict):
                result[key] = {name: self._hoist(reference, base) for name, reference in value.items()}
            elif key in DATA or (key == "examples" and isinstance(value, list)):
                result[key] = value
            elif key in WHOLE_FILES and isinstance(value, dict) and "$ref" in value:
                file, _ = self._target(value["$ref"], base)
                result[key] = self._walk(self._file(file), file)
            elif key == "x-implementation-note" and isinstance(value, list):
                result[key] = " ".join(self._text(part, base) for part in value)
            elif key == "x-include":
                result["properties"] = self._with_included(node.get("properties", {}), value, base)
            elif key == "headers" and isinstance(value, dict) and "x-include" in value:
                own = {name: header for name, header in value.items() if name != "x-include"}
                result[key] = self._with_included(own, value["x-include"], base)
            elif key != "properties" or "x-include" not in node:
                result[key] = self._walk(value, base, names=key in ("properties", "patternProperties"))
        return result

    def _text(self, part: Any, base: Path) -> str:
        """Returns a part of a text: itself, or the text that its `$ref` refers to. Raises SpecError if it is none."""
        text = part
        if isinstance(part, dict) and part.keys() == {"$ref"}:
            file, fragment = self._target(part["$ref"], base)
            self.included.add((file, fragment))
            text = self._pointed(file, fragment, part["$ref"], base)
        if not isinstance(text, str):
            raise SpecError(f"{base}: {part!r} in a note is neither a text nor a reference to one")
        return text

    def _with_included(self, own: dict[str, Any], references: list[str], base: Path) -> dict[str, Any]:
        included: dict[str, Any] = {}
        for reference in references:
            file, fragment = self._target(reference, base)
            self.included.add((file, fragment))
            included |= self._walk(self._pointed(file, fragment, reference, base), file, names=True)
        result = {name: included.pop(name, {}) | self._walk(schema, base) for name, schema in own.items()}
        return result | included

    def _hoist(self, reference: str, base: Path) -> str:
        file, fragment = self._target(reference, base)
        *parents, name = fragment.strip("/").split("/")
        kind = parents[-1] if parents and parents[-1] in KINDS else "schemas"
        origin = self.origins.setdefault((kind, name), (file, fragment))
        if origin != (file, fragment):
            raise SpecError(f"{base}: {reference}: the name {name} is taken by {origin[0].name}#{origin[1]}")
        named = self.components.setdefault(kind, {})
        if name not in named:
            named[name] = {}  # a placeholder, so that a schema may refer to itself
            named[name] = self._walk(self._pointed(file, fragment, reference, base), file)
        return f"#/components/{kind}/{name}"

    def _pointed(self, file: Path, fragment: str, reference: str, base: Path) -> Any:
        node = self._file(file)
        for part in filter(None, fragment.split("/")):
            if not isinstance(node, dict) or part not in node:
                raise SpecError(f"{base}: the reference {reference} points at nothing")
            node = node[part]
        return node
