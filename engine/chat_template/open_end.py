"""A last message that is left open, so that the answer goes on with it.

Chat templates close every message. So what is to be the end is marked in the message, and what the template writes
behind the mark is cut off.
"""

from typing import Any

from specvino.engine.chat_template.template import TemplateRefusal

# A template may set two texts side by side, of which one ends with a seam and the other begins with one.
_SEAMS = 3

# Behind the mark, to tell whether the template trims what a message ends with: it then trims the text before, too.
_SPACE = " "


def mark(turn: dict[str, Any], seam: str) -> None:
    """Marks the end of a turn's content. `seam` is a character that stands in none of the conversation's texts."""
    if isinstance(turn["content"], list):
        turn["content"][-1]["text"] += seam * _SEAMS + _SPACE
    else:
        turn["content"] = (turn["content"] or "") + seam * _SEAMS + _SPACE


def cut(rendered: str, seam: str) -> str:
    """Returns the prompt up to the mark. Raises TemplateRefusal if the template didn't write it."""
    at = rendered.rfind(seam * _SEAMS)
    if at < 0:
        raise TemplateRefusal("It doesn't write the last message as it is, so that it can't be continued.")
    opened = rendered[:at]
    return opened if rendered.startswith(_SPACE, at + _SEAMS) else opened.rstrip()
