"""YAML by libyaml if PyYAML was built with it, which is ten times as fast."""

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load(text: str) -> Any:
    """Returns the content of a document. Raises yaml.YAMLError."""
    return yaml.load(text, LOADER)


def dump(value: Any, width: int = 120) -> str:
    """Returns a document in the order of the value's keys. Texts are folded at `width` characters."""
    text: str = yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=width)
    return text
