"""The merged specification, the input of the lint and the emitters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specvino.codegen.conditions import add_conditions, check
from specvino.codegen.merge import copy_like, merge_errors, merge_support, merge_systems
from specvino.codegen.source import Bundler, SpecError, load


@dataclass(frozen=True, slots=True)
class Spec:
    """The bundled and merged document, the contents of errors.yaml, conditions.yaml and vocabulary.yaml, and the
    dialects by system."""

    document: dict[str, Any]
    errors: dict[str, Any]
    dialects: dict[str, dict[str, Any]]
    vocabulary: dict[str, Any]
    conditions: dict[str, Any]
    unused: tuple[str, ...] = ()
    """Files and definitions below openapi/ that nothing refers to."""

    @property
    def systems(self) -> dict[str, str]:
        """The systems with their display names, in display order."""
        named = ((system, self.dialects[system]) for system in self.vocabulary["$defs"]["system"]["enum"])
        return {system: dialect.get("label", dialect["name"]) for system, dialect in named}


def read(source: Path) -> Spec:
    """Reads the folder openapi/. Raises SpecError."""
    root = source / "openapi.yaml"
    if not root.is_file():
        raise SpecError(f"{root} does not exist: run this in the project's folder, or give it with --root")
    bundler = Bundler(root)
    document = bundler.run()
    errors = load(source / "errors.yaml")
    dialects = {file.stem: load(file) for file in sorted((source / "dialects").glob("*.yaml"))}
    for dialect in dialects.values():
        copy_like(dialect)
    vocabulary = load(source / "vocabulary.yaml")
    merge_systems(document, vocabulary)
    merge_errors(document, errors)
    merge_support(document, dialects)
    conditions = load(source / "conditions.yaml")
    check(document, conditions, vocabulary)
    add_conditions(document, conditions)
    return Spec(document, errors, dialects, vocabulary, conditions, tuple(bundler.unused()))
