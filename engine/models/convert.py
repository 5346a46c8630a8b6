"""Saves a GGUF file as the OpenVINO folder it lies in, which loads in less than half the time (decision 051).

A program of its own, because it holds the interpreter for seconds, takes 400 MB and prints noise.
"""

import json
import sys
from pathlib import Path

from specvino.engine.models.folder import GGUF_TOKENIZER
from specvino.engine.models.gguf_file import open_gguf


def convert(gguf: Path) -> None:
    """Writes model, tokenizer and detokenizer beside the file, and removes it."""
    import openvino_genai

    openvino_genai.LLMPipeline(gguf, "CPU", enable_save_ov_model=True)
    # What the GGUF file says and the saved files don't.
    config = {"max_position_embeddings": open_gguf(gguf).context_length, GGUF_TOKENIZER: True}
    (gguf.parent / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    gguf.unlink()
    # A full disk doesn't stop the saving: only reading back shows that all was written.
    openvino_genai.LLMPipeline(gguf.parent, "CPU")


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
