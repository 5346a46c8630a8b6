"""The examples on the pages: a block of code, and what it prints in the block after it."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])

ADDRESS = "http://127.0.0.1:8000"
"""Of the server that the pages speak to."""

PRINTS = '```text title="It prints"\n'

_EXAMPLE = re.compile(r"^```(\w+)\n([^`]*?)^```\n\n" + re.escape(PRINTS) + r"(.*?)^```$", re.MULTILINE | re.DOTALL)

# What differs from run to run or from version to version; pages may have … for it. Answers of the model aren't masked:
# processors round differently, so pages ask what it has a clear answer to. Behind "The capital of Germany is" no other
# token comes close; behind "The capital of France is Paris" a comma and a full stop are as good as equal.
_MASKS = [
    (re.compile(r"\b((?:chatcmpl|cmpl|cmp|conv|resp|msg|req)[-_])[0-9a-f]{8,}\b"), r"\1…"),
    (re.compile(r'("(?:created|created_at|completed_at|\w+_duration)": ?)(?:\d+|"[^"]*")'), r"\1…"),
    (re.compile(r'("encrypted_content": ?")[\w=-]+'), r"\1…"),
    (re.compile(r"\b\d+\.\d+\.\d+\b(?!\.)"), "…"),
    (re.compile(r" +$", re.MULTILINE), ""),
]


@dataclass(frozen=True, slots=True)
class Example:
    language: str
    code: str
    prints: str


def examples(page: str) -> list[Example]:
    """In the order of the page: a later one may need what an earlier one made."""
    return [Example(*match.groups()) for match in _EXAMPLE.finditer(page)]


def masked(printed: str) -> str:
    for pattern, replacement in _MASKS:
        printed = pattern.sub(replacement, printed)
    return printed
