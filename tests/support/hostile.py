"""What a server may send to whoever reads a report: to a terminal, a CI system, a browser, a Markdown viewer."""

import re
from unicodedata import category

MARKUP = "</pre><script>alert(1)</script><img src=//evil.example/x>]]>&| @someone [x](http://evil.example)"

HOSTILE = {
    "a workflow command": "::error::pwned",
    "one in the next line": "no\n::add-mask::a\n\n  ::stop-commands::b",
    "one after a carriage return": "no\r::error::a\r\n::error::b",
    "one behind white space": " \t\xa0\u3000::warning file=a::b",
    "one behind other ends of lines": "a\x0b::error::b\x0c::error::c\x85::error::d\u2028::error::e\u2029::error::f",
    "one anywhere in a line": "a ##[add-mask]b ###[error]c",
    "one of Azure Pipelines": "a ##vso[task.setvariable variable=b]c",
    "one of TeamCity": "##teamcity[buildStatus text='a']",
    "colors and titles": "\x1b[31m\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\",
    "C1 controls": "\x9b31m\x9d0;title\x9c\x84",
    "other controls": "a\x00b\x08c\x7fd",
    "bidi marks": "\u202eevil\u202c\u2066a\u2069\u200f\u061c",
    "invisible characters": "a\u200bb\ufeffc\xadd\U000e0041",
    "a lone surrogate": "\ud800",
    "what XML has not": "\ufffe\uffff",
    "markup": MARKUP,
    "the beginning of a comment": "<!--<script>",
    "rich's markup": "[bold red]a[/] [link=http://evil.example]b[/link] :warning:",
    "a template": "{{ 7 * 7 }} {% raw %}",
}


def obeyed(text: str) -> list[str]:
    """Returns what a terminal or a CI system would obey in a text, or not show."""
    text = text.replace("\r\n", "\n")
    found = [repr(character) for character in text if not _is_shown(character)]
    # As GitHub's runner reads them: after any white space, and with any end of a line.
    found += [line for line in text.splitlines() if line.lstrip().startswith("::")]
    return found + re.findall(r".*##\w*\[.*", text)


def _is_shown(character: str) -> bool:
    return character in "\t\n" or category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
