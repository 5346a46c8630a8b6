"""An OpenVINO folder: its files, its context length, and its default sampling settings."""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from specvino.engine.errors import UnusableModel
from specvino.engine.models.refused_types import drafting_refusal, refusal
from specvino.engine.models.source import ModelSource
from specvino.engine.models.vocabulary_sizes import unfitting

_TOKENIZER_FILES = (
    "openvino_tokenizer.xml",
    "openvino_tokenizer.bin",
    "openvino_detokenizer.xml",
    "openvino_detokenizer.bin",
)
FILES = ("openvino_model.xml", "openvino_model.bin", *_TOKENIZER_FILES)

# The files of a vision-language model; some have more.
LANGUAGE_MODEL = "openvino_language_model.xml"
VISION_FILES = (
    LANGUAGE_MODEL,
    "openvino_language_model.bin",
    "openvino_text_embeddings_model.xml",
    "openvino_text_embeddings_model.bin",
    "openvino_vision_embeddings_model.xml",
    "openvino_vision_embeddings_model.bin",
    *_TOKENIZER_FILES,
)

# Weights of PyTorch.
SAFETENSORS = ".safetensors"
_CHECKPOINTS = (SAFETENSORS, ".bin", ".pt", ".pth")

# How transformers names architectures that generate text.
_GENERATORS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")

# Types of models whose answers the prefix cache changes (decision 085).
WITHOUT_PREFIX_CACHE = ("granitemoehybrid",)

# The place of a constant in the file of the weights.
_CONSTANT = re.compile(rb'offset="(\d+)"[^>]*? size="(\d+)"')

# Our own key in the config.json of pulled models.
GGUF_TOKENIZER = "specvino_gguf_tokenizer"

_CONTEXT_KEYS = ("max_position_embeddings", "n_positions", "seq_len", "seq_length", "n_ctx")

_HIDDEN_KEYS = ("hidden_size", "n_embd", "d_model", "dim")

# The default if the folder doesn't state one. Few models have less; a limit that is too high silently produces garbage.
ASSUMED_CONTEXT = 4096

_log = logging.getLogger(__name__)


def open_folder(path: Path) -> ModelSource:
    """Returns the model in an OpenVINO folder. Raises ModelLoadError if a file is missing (OpenVINO would load a folder
    without a tokenizer)."""
    try:
        missing = missing_files(path)
        for name in _files(path) if not missing else ():
            (path / name).open("rb").close()
        for xml in sorted(path.glob("openvino_*.xml")) if not missing else ():
            _require_whole(xml)
    except OSError as error:
        raise UnusableModel(f"{error.filename or path}: can't be read: {error.strerror}") from error
    config = read_json(path / "config.json")
    if reason := drafting_refusal(path, config):
        raise UnusableModel(f"{path}: {reason}")
    if missing:
        names = [file.name for file in path.iterdir()]
        raise UnusableModel(f"{path}: {unusable(str(path), names, config, missing[0])}")
    if reason := refusal(config, exporting=False):
        raise UnusableModel(f"{path}: {reason}")
    if not is_generator(path):
        raise UnusableModel(
            f"{path}: its model returns no logits, so that it doesn't generate text{_architecture(config)}"
        )
    if reason := unfitting(path, path / _files(path)[0]):
        raise UnusableModel(f"{reason}: it belongs to another model; copy the tokenizer's files of this one")
    return ModelSource(
        path,
        context_length=_context_length(path, config),
        defaults=_defaults(path / "generation_config.json"),
        gguf=config.get(GGUF_TOKENIZER) is True,
        vision=_files(path) is VISION_FILES,
        hidden_size=_size(config, _HIDDEN_KEYS),
        prefix_cache=config.get("model_type") not in WITHOUT_PREFIX_CACHE,
    )


def require_draft(draft: Path, model: Path) -> None:
    """Raises ModelLoadError if a draft model has another vocabulary than the model. GGUF files aren't compared."""
    if not (draft.is_dir() and model.is_dir()):
        return
    if reason := unfitting(draft, model / _files(model)[0]):
        raise UnusableModel(f"{reason}: a draft model must have the vocabulary of the model")


def unusable(model: str, files: Collection[str], config: Mapping[str, object], missing: str) -> str:
    """Returns why a folder or a repository can't be served, and what would work.

    `model` is the folder or the id on the hub, `files` are the names of its files, `config` is its config.json, and
    `missing` is a file that OpenVINO's format requires.
    """
    on_hub = not Path(model).is_dir()
    ggufs = sorted(file for file in files if file.lower().endswith(".gguf"))
    checkpoint = next((file for file in sorted(files) if file.endswith(_CHECKPOINTS) and "openvino_" not in file), None)
    lacking = f"is neither in OpenVINO's format ({missing} is missing) nor a GGUF file"
    if ggufs and not on_hub:
        return f"is a folder of GGUF files: give one of them, such as {Path(model) / ggufs[0]}"
    if reason := never_servable(files, config):
        return f"{lacking}{reason}"
    if checkpoint is None and not on_hub:
        return f"not an OpenVINO model folder, {missing} is missing"
    if has_own_code(config):
        command = f"optimum-cli export openvino --model {model} --trust-remote-code FOLDER"
        note = " (that runs the code that config.json names in auto_map, so read it first)"
        way = f"convert it with '{command}'{note} and give the folder"
    elif any(file.endswith(SAFETENSORS) for file in files):
        way = f"convert it with 'specvino pull --convert {model}'"
    else:
        way = f"convert it with 'optimum-cli export openvino --model {model} FOLDER' and give the folder"
    ways = [way]
    if on_hub:
        ways.append(f"take a converted one, such as OpenVINO/{model.rpartition('/')[2]}-int4-ov if there is one")
    what = f", but a checkpoint for PyTorch ({checkpoint})" if checkpoint else ""
    return f"{lacking}{what}: {', or '.join([*ways, 'take a GGUF file of it'])}"


def never_servable(files: Collection[str], config: Mapping[str, object]) -> str | None:
    """Returns why no format would make a model servable, as the end of a sentence; None if one may."""
    if "adapter_config.json" in files:
        return ", but an adapter (LoRA): serve its base model, with --lora-modules NAME=FOLDER"
    if "model_index.json" in files:
        return ", but a pipeline of diffusers; only models that generate text can be served"
    if config.get("is_encoder_decoder") is True or "openvino_encoder_model.xml" in files:
        return f", but a model with an encoder{_architecture(config)}; only decoders can be served"
    if reason := drafting_refusal(None, config):
        return f", but {reason}"
    if reason := refusal(config, exporting=not has_own_code(config)):
        return f", and {reason}"
    if not has_own_code(config) and _generates(config) is False:
        return f", and its model doesn't generate text{_architecture(config)}"
    return None


def has_own_code(config: Mapping[str, object]) -> bool:
    """Returns whether a checkpoint comes with code that loads it."""
    return isinstance(config.get("auto_map"), dict)


def is_generator(path: Path) -> bool:
    """Returns whether the model of an OpenVINO folder returns scores of tokens."""
    return b'names="logits' in (path / _files(path)[0]).read_bytes()


def _generates(config: Mapping[str, object]) -> bool | None:
    """Returns whether an architecture of transformers generates text; None if config.json doesn't name one."""
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not architectures:
        return None
    return any(str(name).endswith(_GENERATORS) for name in architectures)


def _architecture(config: Mapping[str, object]) -> str:
    architectures = config.get("architectures")
    return f" ({architectures[0]})" if isinstance(architectures, list) and architectures else ""


def _require_whole(xml: Path) -> None:
    """Raises ModelLoadError if a file of the pair of a model's graph and its weights is truncated, or of another model.
    OpenVINO would load weights of another model, and generate nonsense.
    """
    graph = xml.read_bytes()
    if not graph.rstrip().endswith(b"</net>"):
        raise UnusableModel(f"{xml}: is truncated, or not a model of OpenVINO")
    described = max((int(offset) + int(size) for offset, size in _CONSTANT.findall(graph)), default=0)
    weights = xml.with_suffix(".bin")
    size = weights.stat().st_size if described or weights.exists() else 0
    if size != described:
        raise UnusableModel(
            f"{weights}: has {size:,} bytes, but {xml.name} describes {described:,}: it is truncated, or belongs to "
            "another model; copy both files again"
        )


def missing_files(path: Path) -> list[str]:
    """Returns the names of required files missing from an OpenVINO folder."""
    return [name for name in _files(path) if not (path / name).is_file()]


def _files(path: Path) -> tuple[str, ...]:
    return VISION_FILES if (path / LANGUAGE_MODEL).exists() else FILES


def read_json(path: Path) -> Mapping[str, object]:
    """Returns the object in the file, empty if there is no file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnusableModel(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UnusableModel(f"{path}: is not valid JSON") from error
    if not isinstance(value, dict):
        raise UnusableModel(f"{path}: must hold a JSON object")
    return value


def _context_length(path: Path, config: Mapping[str, object]) -> int:
    size = _size(config, _CONTEXT_KEYS)
    if size is not None:
        return size
    _log.warning(
        "%s does not state the model's context length: assuming %d tokens; set max_position_embeddings in it",
        path / "config.json",
        ASSUMED_CONTEXT,
    )
    return ASSUMED_CONTEXT


def _size(config: Mapping[str, object], keys: Iterable[str]) -> int | None:
    """Returns the first of these settings that config.json states."""
    # Multimodal models have the language model's settings in a nested object.
    text_config = config.get("text_config")
    for part in (config, text_config if isinstance(text_config, dict) else {}):
        for key in keys:
            value = part.get(key)
            if _is_integer(value) and value > 0:
                return value
    return None


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> TypeGuard[float | int]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A key of generation_config.json: its name in `Sampling`, and which values are valid."""

    name: str
    accepts: Callable[[object], bool]
    accepted: str


def _number(name: str, accepts: Callable[[float], bool], accepted: str) -> _Setting:
    return _Setting(name, lambda value: _is_number(value) and accepts(value), f"a number {accepted}")


def _integer(name: str, least: int) -> _Setting:
    return _Setting(name, lambda value: _is_integer(value) and value >= least, f"an integer of {least} or more")


_SETTINGS = {
    "temperature": _number("temperature", lambda value: 0 <= value <= 2, "from 0 to 2"),
    "top_p": _number("top_p", lambda value: 0 <= value <= 1, "from 0 to 1"),
    "top_k": _integer("top_k", least=-1),
    "repetition_penalty": _number("repetition_penalty", lambda value: 0.01 <= value <= 100, "from 0.01 to 100"),
    "frequency_penalty": _number("frequency_penalty", lambda value: -2 <= value <= 2, "from -2 to 2"),
    "presence_penalty": _number("presence_penalty", lambda value: -2 <= value <= 2, "from -2 to 2"),
    "max_new_tokens": _integer("max_tokens", least=1),
}


def _defaults(path: Path) -> dict[str, float | int]:
    """Returns the supported sampling settings; other keys are for other programs."""
    defaults: dict[str, float | int] = {}
    config = read_json(path)
    for key, setting in _SETTINGS.items():
        value = config.get(key)
        if value is None:
            continue
        if not _is_number(value) or not setting.accepts(value):
            raise UnusableModel(f"{path}: {key} must be {setting.accepted}, not {json.dumps(value)}")
        defaults[setting.name] = value
    if defaults.get("top_k") == 0:
        # Both mean "keep all tokens": 0 in this file, -1 in a request.
        defaults["top_k"] = -1
    return defaults
