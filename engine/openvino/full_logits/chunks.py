"""The size of a prompt's chunks: a chunk is bounded by its work, as the worker's slices are (decision 063)."""

# OpenVINO 2026.4.1 on a CPU, in f32: at a context of about `hidden_size` tokens, attention takes as long as the rest of
# the model: 256 tokens of SmolLM2 (576) take 2.0 s of CPU time at the beginning of a prompt, and 5.3 s behind 1,240.
_HIDDEN_SIZE = 2048  # if the model doesn't state it

# The most work of a chunk: that of so many tokens at the beginning of a prompt. Other requests wait for a chunk, and a
# short one of SmolLM2 takes 0.14 s of CPU time: chunks take 0.22 s at the beginning (0.27 with 64), and 0.17 s behind
# 5,600 tokens (up to 0.28 with 64). A token takes 7 % longer than with 64 at the beginning.
_WORK = 48

# At a context of 7,900 tokens, a token of SmolLM2 takes as long in chunks of 4 as of 16 (0.14 and 0.13 s of CPU time).
_LEAST = 4


def chunk_tokens(most: int, hidden_size: int | None, computed: int) -> int:
    """Returns how many tokens of a prompt are computed at a time behind so many `computed` ones, at most `most`."""
    size = hidden_size or _HIDDEN_SIZE
    return min(most, max(_LEAST, round(_WORK * size / (size + computed))))
