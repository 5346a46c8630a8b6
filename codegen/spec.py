"""The merged specification, the input of the lint and the emitters."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from specvino.codegen.conditions import add_conditions, check
from specvino.codegen.fields import fields
from specvino.codegen.later_rules import drop_later
from specvino.codegen.merge import merge_errors, merge_support, merge_systems
from specvino.codegen.project import project, project_version
from specvino.codegen.rows import complete, of_version
from specvino.codegen.source import Bundler, SpecError, load
from specvino.document.system_fields import SystemFields


@dataclass(frozen=True)
class Spec:
    """The bundled and merged document, the contents of errors.yaml, conditions.yaml and vocabulary.yaml, the
    dialects by system, and those of older versions, such as `vllm@0.29`. It isn't changed once it is `projected`."""

    document: dict[str, Any]
    errors: dict[str, Any]
    dialects: dict[str, dict[str, Any]]
    versions: dict[str, dict[str, Any]]
    vocabulary: dict[str, Any]
    conditions: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    """The file of each schema, below openapi/."""
    unused: tuple[str, ...] = ()
    """Files and definitions below openapi/ that nothing refers to."""
    sources: dict[str, SystemFields] = field(default_factory=dict, compare=False)
    """Which fields the sources of each dialect have, where something has read them."""

    @property
    def systems(self) -> dict[str, str]:
        """The systems with their display names, in display order."""
        named = ((system, self.dialects[system]) for system in self.vocabulary["$defs"]["system"]["enum"])
        return {system: dialect.get("label", dialect["name"]) for system, dialect in named}

    @cached_property
    def projected(self) -> dict[str, dict[str, Any]]:
        """The documents of other systems and of older versions, for the lint and the files: half a second each."""
        documents = {system: project(self.document, dialect) for system, dialect in self.dialects.items()}
        for name, dialect in self.versions.items():
            documents[name] = project_version(self.document, dialect, self.dialects[name.partition("@")[0]])
        return documents

    def __getstate__(self) -> dict[str, Any]:
        """Without the derived documents: a copy is made to be changed."""
        return {name: value for name, value in vars(self).items() if name != "projected"}


def described(project: Path, system: str) -> SystemFields | None:
    """Returns which fields the sources of a system have; None if nothing has read them."""
    path = project / "upstream" / "descriptions" / f"{system}.json"
    return SystemFields(json.loads(path.read_text("utf-8"))) if path.is_file() else None


def read(source: Path) -> Spec:
    """Reads the folder openapi/, and upstream/descriptions/ beside it. Raises SpecError."""
    root = source / "openapi.yaml"
    if not root.is_file():
        raise SpecError(f"{root} does not exist: run this in the project's folder, or give it with --root")
    bundler = Bundler(root)
    document = bundler.run()
    errors = load(source / "errors.yaml")
    dialects = {file.stem: load(file) for file in sorted((source / "dialects").glob("*.yaml"))}
    all_fields = fields(document)
    versions = {}
    sources: dict[str, SystemFields] = {}
    for system, dialect in dialects.items():
        names = [system, *(f"{system}@{number}" for number in dialect.get("versions", ()))]
        sources |= {name: known for name in names if (known := described(source.parent, name)) is not None}
        newest = sources.get(system)
        try:
            for name in names[1:]:
                versions[name] = of_version(dialect, name.partition("@")[2])
                complete(versions[name], all_fields, sources.get(name), newest, document)
                if "rules" in dialect and newest is not None and name in sources:
                    versions[name]["rules"] = drop_later(versions[name]["rules"], sources[name], newest)
            complete(dialect, all_fields, newest, None, document)
        except SpecError as error:
            raise SpecError(f"{source / 'dialects' / system}.yaml: {error}") from error
    vocabulary = load(source / "vocabulary.yaml")
    merge_systems(document, vocabulary, versions)
    merge_errors(document, errors)
    merge_support(document, dialects)
    conditions = load(source / "conditions.yaml")
    check(document, conditions, vocabulary)
    add_conditions(document, conditions)
    files, unused = bundler.schema_files(), tuple(bundler.unused())
    return Spec(document, errors, dialects, versions, vocabulary, conditions, files, unused, sources)
