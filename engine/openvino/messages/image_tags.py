"""Images in the prompts of vision-language models.

Their pipeline takes the prompt as a text, in which a tag stands for each image, and tokenizes it itself. So what users
type can't be kept apart from control tokens and tags by tokenizing it apart (`special_token_escaping.py`). Where it
spells one, an invisible character is put inside: the model reads the same, but for that (decision 019).
"""

import re

JOINER = "\u2060"

# GenAI's own tags, and those of models whose tokenizers don't know theirs as special tokens.
_TAGS = re.compile(r"<(?=ov_genai_[a-z]+_\d+>|image>|\|image_\d+\|>)")

_OURS = re.compile(r"<ov_genai_image_\d+>")


def tag(number: int) -> str:
    """Returns the tag that stands for the image of this number, from 0, among those given to the pipeline."""
    return f"<ov_genai_image_{number}>"


def without(text: str) -> str:
    """Returns the text of a prompt without the images' tags."""
    return _OURS.sub("", text)


def cut(text: str) -> str:
    """Returns the text without tags, looking the same."""
    return _TAGS.sub(f"<{JOINER}", text)
