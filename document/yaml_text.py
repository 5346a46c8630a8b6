"""YAML by libyaml if PyYAML was built with it, which is ten times as fast."""

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class UniqueKeys(LOADER):  # type: ignore[misc]
    """A loader that refuses a mapping with the same key twice, of which others take the last."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in result:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is duplicated", key_node.start_mark)
        result[key] = loader.construct_object(value_node, deep=True)
    return result


UniqueKeys.add_constructor("tag:yaml.org,2002:map", _mapping)


def load(text: str) -> Any:
    """Returns the content of a document. Raises yaml.YAMLError."""
    return yaml.load(text, LOADER)


def dump(value: Any, width: int = 120) -> str:
    """Returns a document in the order of the value's keys. Texts are folded at `width` characters."""
    text: str = yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=width)
    return text
