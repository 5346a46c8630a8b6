"""YAML by libyaml if PyYAML was built with it, which is ten times as fast."""

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class UniqueKeys(LOADER):  # type: ignore[misc]  # the base is libyaml's class or, without it, PyYAML's
    """A loader that refuses a mapping with the same key twice. Others take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is duplicated", node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=True)
        return mapping


def load(text: str) -> Any:
    """Returns the content of a document. Raises yaml.YAMLError."""
    return yaml.load(text, LOADER)


def dump(value: Any, width: int = 120) -> str:
    """Returns a document in the order of the value's keys. Texts are folded at `width` characters."""
    text: str = yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=width)
    return text
