"""Reads the hand-written YAML."""

from pathlib import Path
from typing import Any

import yaml

from specvino.document.yaml_text import LOADER


class SpecError(Exception):
    """The source can't be read or put together; `str()` names the file."""


class _Loader(LOADER):  # type: ignore[misc]
    """Loads YAML without the two surprises of a specification: a key given twice, and dates."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    pairs = [
        (loader.construct_object(key, deep=True), loader.construct_object(value, deep=True))
        for key, value in node.value
    ]
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", node.start_mark)
        result[key] = value
    return result


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
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
