"""The pages that are made from the document, a module for each kind."""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Page:
    """Holds a page of the site. `path` is below the folder of pages (`endpoints/chat.md`); `text` is Markdown, or HTML
    that stays as it is."""

    path: str
    title: str
    text: str


def html(text: str) -> str:
    """Returns a description as HTML: what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def cell(text: str) -> str:
    """Returns a description within a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
