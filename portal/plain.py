"""The site for programs: its pages as Markdown, and a list of them (llms.txt)."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

# What has no meaning for a program, or a form in Markdown: where the pattern is, and what replaces it.
_FORMS = {
    r"(?s)\A---\n.*?\n---\n+": "",
    r"(?s)<(figure|form|style)\b.*?</\1>\n?": "",
    r"<code>([^<`]*)</code>": r"`\1`",
    r"<h3\b[^>]*>": "\n\n### ",
    r"<li\b[^>]*>": "\n- ",
    r"</?(?:p|ul|h3)\b[^>]*>": "\n\n",
    r"<br>": " ",
    r"</?(?:a|article|dd|div|dl|dt|li|small|span|wbr)\b[^>]*>": "",
    r"(?:(?<=[)\w])|\A) ?\{ ?(?:[#.]\S|\w+=)[^{}\n]*\}": "",
    r"[ \t]+(?=\n)": "",
    r"\n{3,}": "\n\n",
}

_CODE = re.compile(r"(?ms)(^```.*?^```$|`[^`\n]+`)")

HEAD = """\
# {name}

> {description}

The pages below are Markdown; the same pages as HTML have `.html` in place of `.md`.
[skill.md]({base}skill.md) has what an agent needs to use the command `specvino`. `openapi/SYSTEM.json` is the OpenAPI
document of a system, such as [openapi/vllm.json]({base}openapi/vllm.json).
"""


def plain(text: str) -> str:
    """Returns a page without what is only for its look: its front matter, and HTML outside of code."""
    pieces = _CODE.split(text)
    return "".join(piece if number % 2 else _without_html(piece) for number, piece in enumerate(pieces)).lstrip()


def _without_html(text: str) -> str:
    for pattern, replacement in _FORMS.items():
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return unescape(text)


def summary(text: str) -> str:
    """Returns the first paragraph with a sentence of a page's Markdown, as plain text."""
    for block in re.split(r"\n\s*\n", text):
        if re.match(r"[A-Za-z*`\[]", block) and re.search(r"[.:?]$", block):
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)
            return " ".join(re.sub(r"[*`]", "", words).split())
    return ""


def llms(name: str, description: str, nav: list[Any], texts: Mapping[str, str], base: str) -> str:
    """Returns the content of llms.txt (https://llmstxt.org): a section for each part of the menu. `texts` are the
    pages' Markdown by path, `base` is the site's address or empty."""
    sections = (
        f"\n## {title}\n\n{''.join(_listed(title, entries, texts, base))}"
        for part in nav
        for title, entries in part.items()
    )
    return HEAD.format(name=name, description=description, base=base) + "".join(sections)


def _listed(title: str, entries: Any, texts: Mapping[str, str], base: str) -> Iterator[str]:
    """Yields a line for each page of an entry of the menu. Entries without a title have the heading of their page."""
    if isinstance(entries, list):
        for entry in entries:
            for name, inner in entry.items() if isinstance(entry, dict) else [("", entry)]:
                yield from _listed(name, inner, texts, base)
    elif entries in texts:
        heading = re.search(r"(?m)^# (.+)$", texts[entries])
        first = summary(texts[entries])
        yield f"- [{title or (heading[1] if heading else entries)}]({base}{entries}){': ' * bool(first)}{first}\n"
