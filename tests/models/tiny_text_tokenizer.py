"""The tokenizer of tests/models/tiny_text, always the same; it needs transformers."""

from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).parent
VOCABULARY = 1000
# Special tokens are control: the detokenizer leaves them out. Tags are content: it keeps them.
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
END, PAD = "<|im_end|>", "<|pad|>"


def train_tokenizer(special: list[str], template: Path) -> PreTrainedTokenizerFast:
    """A byte-level BPE, as those of Qwen and SmolLM are.

    It is trained on a text that has nothing to do with the lessons, so that their words, and still more their emoji
    and Chinese, are split over several tokens: that is what tests of streaming need.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(special) - len(TAGS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([str(HERE.parents[1] / "LICENSE")], trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in TAGS])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=4096,
    )
    # The engine's template renderer knows no lstrip_blocks; with "{%-" everywhere it makes no difference.
    wrapped.chat_template = template.read_text().strip()
    return wrapped
