"""Writes a GGUF model as transformers has it, into a folder of the Hugging Face hub's cache; run by the Python that has
transformers: GGUF FOLDER."""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

REVISION = "0" * 40

if __name__ == "__main__":
    gguf, cached = map(Path, sys.argv[1:])
    folder = cached / "snapshots" / REVISION
    (cached / "refs").mkdir(parents=True)
    (cached / "refs/main").write_text(REVISION)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # The weights are float32 by now; what says that they are still quantized forbids saving them.
    model.hf_quantizer = None
    model.is_quantized = False
    del model.config.quantization_config
    model.save_pretrained(folder)
