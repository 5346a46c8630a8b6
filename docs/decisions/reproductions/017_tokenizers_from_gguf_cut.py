"""Does a tokenizer made from a GGUF file silently keep 8,192 tokens of a longer text?"""

from grammar_probe import default_model
from verdict import report

LENGTH = 9000
tokens = default_model().tokenizer.encode("a\n" * LENGTH).input_ids.shape[1]
report(tokens == 8192, f"{LENGTH} lines became {tokens} tokens")
