"""Types of models that can't be served, because of a dependency: docs/architectures.md has the errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """Why models of a type can't be served, and the source. `exporting`: only if they must be converted, by the code of
    transformers; the code that comes with a checkpoint may do."""

    because: str
    source: str
    exporting: bool = False


_NO_SUCH_TYPE = Fault(
    "OpenVINO GenAI 2026.4.1 has no vision-language models of this type",
    "openvino.genai, src/cpp/src/visual_language/vlm_config.cpp, `to_vlm_model_type`",
)

_OTHER_CODE = Fault(
    "optimum-intel 2.2.0 can't export this type with the code of transformers",
    "optimum-intel, optimum/exporters/openvino: model_configs.py, `DeepseekOpenVINOConfig`, and model_patcher.py",
    exporting=True,
)

REFUSED = {
    "smolvlm": _NO_SUCH_TYPE,
    "idefics3": _NO_SUCH_TYPE,  # SmolVLM's first version
    "phi4_multimodal": Fault(
        "OpenVINO GenAI 2026.4.1 runs this type only if config.json of the exported folder names it phi4mm",
        "openvino.genai, src/cpp/src/visual_language/vlm_config.cpp, `to_vlm_model_type`",
    ),
    "deepseek_v2": _OTHER_CODE,
    "deepseek_v3": _OTHER_CODE,
}

# Drafters that use the states of the model that they draft for: how optimum-intel 2.2.0 marks their graphs, and which
# architectures it exports as such (optimum/exporters/openvino/__main__.py, `_CUSTOM_DRAFT_MODEL_MAP`).
_DRAFTERS = {b"<eagle3_mode ": "an Eagle-3", b"<dflash_mode ": "a DFlash"}
_DRAFTER_ARCHITECTURES = {
    "LlamaForCausalLMEagle3": "an Eagle-3",
    "Eagle3LlamaForCausalLM": "an Eagle-3",
    "DFlashDraftModel": "a DFlash",
}


def drafting_refusal(folder: Path | None, config: Mapping[str, object]) -> str | None:
    """Returns why an OpenVINO folder, or a checkpoint without one, can't be used if it is a drafter that needs the
    states of another model (decision 084)."""
    kinds = []
    graph = folder / "openvino_model.xml" if folder else None
    if graph and graph.is_file():
        text = graph.read_bytes()
        kinds = [kind for mark, kind in _DRAFTERS.items() if mark in text]
    architectures = config.get("architectures")
    names = architectures if isinstance(architectures, list) else []
    kinds += [kind for name in names if (kind := _DRAFTER_ARCHITECTURES.get(str(name)))]
    if not kinds:
        return None
    return (
        f"{kinds[0]} drafter of another model, which OpenVINO GenAI 2026.4.1 can't run beside other requests without "
        "errors; --draft-model takes a smaller model with the same vocabulary, and --prompt-lookup needs none"
    )


def refusal(config: Mapping[str, object], *, exporting: bool) -> str | None:
    """Returns why a model with this config.json can't be served, as the end of a sentence; None if it may be.
    `exporting`: it must be converted, by the code of transformers."""
    name = config.get("model_type")
    fault = REFUSED.get(name) if isinstance(name, str) else None
    if fault is None or (fault.exporting and not exporting):
        return None
    return f"{fault.because} ({name}); take a model of one of the types in docs/architectures.md that start"
