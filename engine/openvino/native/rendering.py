"""Renders a conversation into the pieces of a prompt, which are tokenized separately so that no control token spans
their boundaries (`chat_template/special_token_escaping.py`).
"""

from collections.abc import Sequence

from specvino.engine.chat_template import messages
from specvino.engine.chat_template.chat_template import ChatTemplate
from specvino.engine.chat_template.messages import WriteCall
from specvino.engine.chat_template.special_token_escaping import marker, seam_for, split
from specvino.engine.openvino.messages.images import JOINER, break_image_tags, image_tag
from specvino.engine.request import Conversation


def render(
    template: ChatTemplate,
    prompt: Conversation,
    special: Sequence[str],
    most: int | None = None,
    *,
    as_text: bool = False,
    write_call: WriteCall | None = None,
) -> list[str]:
    """Returns the rendered conversation, split where no control token may be. `special` are the control tokens' texts.
    With `as_text` it is one piece, for the pipeline of a vision-language model. `write_call` is as for
    `messages.turns`.

    Raises TemplateRefusal, and TooManyMarks if the texts contain more than `most` control tokens.
    """
    seam = seam_for(list(messages.texts(prompt)))
    mark = marker(special, JOINER if as_text else seam, most)
    if as_text:
        return [template.render(prompt, lambda text: mark(break_image_tags(text)), seam, image_tag, write_call)]
    return split(template.render(prompt, mark, seam, image_tag, write_call), seam)
