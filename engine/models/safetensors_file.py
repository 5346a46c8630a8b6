"""A .safetensors file: the header, and whether the file is complete."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TypeGuard

from specvino.engine.errors import UnusableModel

# The size of an element in bytes. The format has more types.
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}

_LENGTH = 8  # bytes of the header's length


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor in a file: the format's name of its type, its shape, and its bytes from `start` to `end` in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_header(path: Path) -> Mapping[str, StoredTensor]:
    """Returns the tensors of a file by name. Raises ModelLoadError if it isn't complete, or not of this format."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH), "little")
            header = file.read(length) if length <= size - _LENGTH else b""
    except OSError as error:
        raise UnusableModel(f"{path}: can't be read: {error.strerror}") from error
    try:
        members = json.loads(header)
        members.pop("__metadata__", None)
        tensors = {name: _tensor(member, _LENGTH + length) for name, member in members.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnusableModel(f"{path}: is not a safetensors file, or is truncated or corrupt") from error
    end = max((tensor.end for tensor in tensors.values()), default=_LENGTH + length)
    if size != end:
        raise UnusableModel(f"{path}: has {size:,} bytes, but its header describes {end:,}; copy it again")
    return tensors


def _tensor(member: Mapping[str, object], data: int) -> StoredTensor:
    """Raises ValueError, TypeError or KeyError. `data` is where the tensors begin in the file."""
    dtype, shape, offsets = member["dtype"], member["shape"], member["data_offsets"]
    if not (isinstance(dtype, str) and _are_sizes(shape) and _are_sizes(offsets)):
        raise TypeError
    start, end = offsets
    if dtype in _SIZES and end - start != prod(shape) * _SIZES[dtype]:
        raise ValueError
    return StoredTensor(dtype, tuple(shape), data + start, data + end)


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(isinstance(item, int) and item >= 0 for item in value)
