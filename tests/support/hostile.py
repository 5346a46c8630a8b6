"""What a server may send to whoever reads a report: to a terminal, a CI system, a browser, a Markdown viewer."""

import re
from typing import Any
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

# What tries to be code of a client package, in any of its languages.
CODE = 'x"""\'\'\'\\\n*/ `${pwned()}` {{ pwned() }} #\u2028"; import pwned; pwned() //'


def obeyed(text: str) -> list[str]:
    """Returns what a terminal or a CI system would obey in a text, or not show."""
    text = text.replace("\r\n", "\n")
    found = [repr(character) for character in text if not _is_shown(character)]
    # As GitHub's runner reads them: after any white space, and with any end of a line.
    found += [line for line in text.splitlines() if line.lstrip().startswith("::")]
    return found + re.findall(r".*##\w*\[.*", text)


def _is_shown(character: str) -> bool:
    return character in "\t\n" or category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def hostile_document(text: str = CODE) -> dict[str, Any]:
    """An OpenAPI document in which each name and text that can be hostile is."""
    request = {
        "type": "object",
        "title": text,
        "description": text,
        "customTypePath": "pwned.pwned",
        "x-python-type": "pwned",
        "required": ["model", text],
        "properties": {
            "model": {"type": "string", "description": text, "default": text, "pattern": text},
            "kind": {"enum": [text, "a"], "customBasePath": "pwned.Pwned"},
            "__import__('pwned')": {"type": "string"},
            "class": {"$ref": f"#/components/schemas/{text}"},
            "loop": {"$ref": "#/components/schemas/Loop"},
            "stream": {"type": "boolean", "nullable": True},
            text: {"type": "string"},
        },
    }
    operation = {
        "operationId": text,
        "summary": text,
        "description": text,
        "parameters": [
            {"name": text, "in": "query", "schema": {"type": "string"}},
            {"name": "plain", "in": "query", "schema": {"enum": [text, "a"]}, "description": text},
        ],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{text}"}}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}}},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": text, "version": text},
        "servers": [{"url": f"https://evil.example/{text}"}],
        "paths": {"/v1/chat/completions": {"post": operation}, f"/v1/{text}": {"post": operation}, "/v1/x": text},
        "components": {
            "schemas": {
                text: request,
                "Answer": {"type": "object", "properties": {"__class__": {"type": "string"}, "id": {"const": text}}},
                "Loop": {"$ref": "#/components/schemas/Loop"},
                "import pwned": {"type": "string", "enum": ["a"], "description": text},
            }
        },
    }
