"""The pages that are made from the document, a module for each kind."""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site. `path` is below the folder of pages (`endpoints/chat.md`); `text` is Markdown, or HTML that
    is used as it is."""

    path: str
    title: str
    text: str


def html(text: str) -> str:
    """Returns a description as HTML; text between backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def cell(text: str) -> str:
    """Returns a description for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
