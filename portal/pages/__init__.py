"""The pages that are made from the document, a module for each kind."""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site. `path` is below the folder of pages (`endpoints/chat.md`); `text` is Markdown, or HTML that
    is used as it is. `plain` is the Markdown for programs, if `text` isn't for them."""

    path: str
    title: str
    text: str
    plain: str = ""


def html(text: str) -> str:
    """Returns a description as HTML; text between backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def cell(text: str) -> str:
    """Returns a description for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
