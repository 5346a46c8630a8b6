"""The LoRA adapters of a server, as `--lora-modules` names them."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from specvino.handlers.models import Adapter
from specvino.server.assembly.options import OptionError

_OPTION = "--lora-modules"

_MEMBERS = {"name", "path", "base_model_name"}


def lora_modules(given: Sequence[str], models: Collection[tuple[str, ...]]) -> list[Adapter]:
    """Parses the adapters of models with these names, each as NAME=PATH or a JSON object, as in vLLM 0.33.0
    (vllm/entrypoints/common/cli_args.py, `LoRAParserAction`). Raises OptionError.
    """
    taken = {name for names in models for name in names}
    bases = set(taken)
    modules = []
    for text in given:
        members = _members(text)
        name, base = members["name"], members.get("base_model_name")
        if base is None:
            if len(models) > 1:
                raise OptionError(_OPTION, f"{text!r}: base_model_name is required with several models")
            ((base, *_),) = models
        if base not in bases:
            raise OptionError(_OPTION, f"unknown base model {base!r}; served: {', '.join(sorted(bases))}")
        if name in taken:
            raise OptionError(_OPTION, f"the name {name!r} is used twice")
        taken.add(name)
        modules.append(Adapter(name, Path(members["path"]), base))
    return modules


def _members(text: str) -> dict[str, str]:
    members: dict[str, Any]
    if text.startswith("{"):
        try:
            members = json.loads(text)
        except ValueError as error:
            raise OptionError(_OPTION, f"{text!r} is not valid JSON: {error}") from None
    else:
        name, _, path = text.partition("=")
        members = {"name": name, "path": path}
    known = {"name", "path"} <= members.keys() <= _MEMBERS
    if not known or not all(isinstance(value, str) and value for value in members.values()):
        form = '{"name": "NAME", "path": "PATH", "base_model_name": "MODEL"}'
        raise OptionError(_OPTION, f"{text!r} is neither NAME=PATH nor of the form {form}")
    return members
