"""A .gguf file: whether it is complete, whether OpenVINO supports its architecture, and the sizes it states."""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFValueType, Keys

from specvino.engine.errors import UnusableModel
from specvino.engine.models.source import ModelSource

ARCHITECTURES = ("llama", "qwen2", "qwen3")


def open_gguf(path: Path) -> ModelSource:
    """Returns the model in a .gguf file. Raises UnusableModel, also for an unsupported architecture."""
    header = read_header(path)
    architecture = _value(header, Keys.General.ARCHITECTURE)
    if architecture not in ARCHITECTURES:
        raise UnusableModel(
            f"{path}: OpenVINO can't load the architecture {architecture!r} from GGUF, only {', '.join(ARCHITECTURES)}"
        )
    key = Keys.LLM.CONTEXT_LENGTH.format(arch=architecture)
    context_length = _size(header, key)
    if context_length is None:
        raise UnusableModel(f"{path}: its metadata hold no {key}")
    hidden_size = _size(header, Keys.LLM.EMBEDDING_LENGTH.format(arch=architecture))
    return ModelSource(path, context_length=context_length, defaults={}, gguf=True, hidden_size=hidden_size)


def read_header(path: Path) -> GGUFReader:
    """Returns the header of a file, without its arrays. Raises UnusableModel if the file is missing, incomplete, or
    broken."""
    try:
        return _Header(path)
    except FileNotFoundError as error:
        raise UnusableModel(f"{path}: there is no such file") from error
    except OSError as error:
        raise UnusableModel(f"{path}: can't be read: {error.strerror}") from error
    except _TooShort as error:
        raise UnusableModel(f"{path}: {error}") from error
    except Exception as error:
        # The reader trusts the file, so a broken one causes all kinds of errors.
        size = path.stat().st_size
        raise UnusableModel(
            f"{path}: is not a GGUF file, or is truncated or corrupt ({size:,} bytes); download or copy it again"
        ) from error


def _size(header: GGUFReader, key: str) -> int | None:
    value = _value(header, key)
    return value if isinstance(value, int) and value > 0 else None


def _value(header: GGUFReader, key: str) -> object:
    field = header.get_field(key)
    return None if field is None else field.contents()


class _TooShort(Exception):
    """A file ends before its tensors do; `str()` says where."""


class _Header(GGUFReader):
    """Reads a header and skips arrays, such as the vocabulary. The stock reader keeps several objects per array entry,
    which takes 2 s for a model with 49,000 tokens instead of 0.1 s. It also says by how much a file is too short.
    """

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[Any]]:
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        order = "<" if self.byte_order == "I" else ">"
        head, length = struct.Struct(order + "IQ"), struct.Struct(order + "Q")
        data = self.data.data
        item_type, count = head.unpack_from(data, orig_offs)
        end = orig_offs + head.size
        if item_type == GGUFValueType.STRING:
            for _ in range(count):
                end += length.size + length.unpack_from(data, end)[0]
        else:
            end += count * np.dtype(self.gguf_scalar_to_np[GGUFValueType(item_type)]).itemsize
        return end - orig_offs, [], [], [GGUFValueType.ARRAY]

    def _build_tensors(self, start_offs: int, fields: list[Any]) -> None:
        parts = (field.parts for field in fields)
        described = (start_offs + int(offset[0]) + _bytes(dims, kind[0]) for *_, dims, kind, offset in parts)
        needed, size = max(described, default=0), self.data.nbytes
        if needed > size:
            raise _TooShort(
                f"has {size:,} bytes, but its tensors need {needed:,}: it is truncated; download or copy it again"
            )
        super()._build_tensors(start_offs, fields)


def _bytes(dims: Any, kind: int) -> int:
    block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    return math.prod(map(int, dims)) * size // block
