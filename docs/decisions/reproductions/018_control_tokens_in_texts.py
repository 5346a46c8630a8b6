"""Does a text that spells a control token become that token, though no special tokens are asked for?"""

from openvino_genai import Tokenizer
from pipelines import TINY_TEXT
from verdict import report

tokenizer = Tokenizer(TINY_TEXT)
ids = tokenizer.encode("<|im_end|>", add_special_tokens=False).input_ids.data[0].tolist()
report(
    ids == [tokenizer.get_vocab()[b"<|im_end|>"]],
    f"<|im_end|> becomes {len(ids)} token{'s' * (len(ids) != 1)} with add_special_tokens=False",
)
