"""The tokens that end a turn."""

from pathlib import Path

from openvino_genai import GenerationConfig

from specvino.engine.openvino.native.tokenizer import load_tokenizer


def ends(path: str) -> frozenset[int]:
    """Returns the ids that the pipeline heeds: those of the folder's generation_config.json, and the tokenizer's own
    where that names none."""
    file = Path(path) / "generation_config.json"
    config = GenerationConfig(file) if file.is_file() else GenerationConfig()
    found = {config.eos_token_id, *config.stop_token_ids} - {-1}
    return frozenset(found or {load_tokenizer(path).get_eos_token_id()})
