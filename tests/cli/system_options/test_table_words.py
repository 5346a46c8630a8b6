"""What an option is here, in words."""

import pytest

from specvino.cli.system_options.table import effect, read


@pytest.mark.parametrize(
    ("system", "name", "words"),
    [
        ("vllm", "--host", "As --host."),
        ("vllm", "--api-key", "As the environment variable SPECVINO_API_KEY."),
        ("vllm", "--model", "As MODEL."),
        ("vllm", "--gpu-memory-utilization", None),
        ("vllm", "--uds", "Refused: The server listens on a TCP port."),
        (
            "vllm",
            "--spec-method",
            "As --prompt-lookup, for ngram. No effect otherwise: Drafts come from a draft model or from the prompt.",
        ),
        ("ovms", "--task", "Only text_generation: Only models that generate text are served."),
        ("ovms", "--cache-size", "As --cache-size."),
        ("ovms", "--kv-cache-precision", "As KV_CACHE_PRECISION in --plugin-config."),
        ("ovms", "--model-repository-path", "A folder to look for the model in."),
        (
            "mlc-llm",
            "--overrides",
            "max_num_sequence: As --max-num-seqs. prefill_chunk_size: As --max-num-batched-tokens. "
            "context_window_size: As --max-model-len.",
        ),
    ],
)
def test_words(system, name, words) -> None:
    table = read(system)
    assert table is not None
    assert effect(table.options[name].meaning) == words
