"""Saves a GGUF file as the OpenVINO folder it lies in, which loads in less than half the time (decision 051).

A separate program, because it holds the interpreter for seconds, takes 400 MB and writes to stderr.
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
    # Metadata of the GGUF file that the saved files lack.
    config = {"max_position_embeddings": open_gguf(gguf).context_length, GGUF_TOKENIZER: True}
    (gguf.parent / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    gguf.unlink()
    # Saving on a full disk doesn't fail: only loading shows that everything was written.
    openvino_genai.LLMPipeline(gguf.parent, "CPU")


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
