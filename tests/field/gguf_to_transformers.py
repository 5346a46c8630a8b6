"""Writes a GGUF model as a folder that transformers serves; run by the Python that has it: GGUF FOLDER."""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

if __name__ == "__main__":
    gguf, folder = map(Path, sys.argv[1:])
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # The weights are float32 by now; what says that they are still quantized forbids saving them.
    model.hf_quantizer = None
    model.is_quantized = False
    del model.config.quantization_config
    model.save_pretrained(folder)
