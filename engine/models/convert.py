"""Converts a GGUF file to an OpenVINO model in the same folder, which loads in less than half the time (decision 051).
This is a separate program because it blocks the interpreter for seconds, takes 400 MB and writes to stderr.
"""

import json
import sys
from pathlib import Path

from specvino.engine.models.folder import GGUF_TOKENIZER
from specvino.engine.models.gguf_file import open_gguf
from specvino.engine.models.signed_weights import sign_weights


def convert(gguf: Path) -> None:
    """Writes model, tokenizer and detokenizer beside the file, and removes it."""
    import openvino_genai

    openvino_genai.LLMPipeline(gguf, "CPU", enable_save_ov_model=True)
    sign_weights(gguf.parent)
    # Metadata of the GGUF file that OpenVINO doesn't save.
    source = open_gguf(gguf)
    config = {
        "max_position_embeddings": source.context_length,
        "hidden_size": source.hidden_size,
        GGUF_TOKENIZER: True,
    }
    (gguf.parent / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    gguf.unlink()
    # The files are checked by loading them, as every start will.
    openvino_genai.LLMPipeline(gguf.parent, "CPU")


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
