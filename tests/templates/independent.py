"""Chat templates as transformers 4.57 renders them (`utils/chat_template_utils.py`), apart from Specvino's code."""

import json
from datetime import datetime
from functools import cache
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}  # noqa: RUF012 - Jinja2's own declaration

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("said"), [], [], body).set_lineno(line)

    def said(self, caller: Any) -> Any:
        return caller()


def raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(format: str) -> str:
    return datetime.now().strftime(format)


def tojson(
    x: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@cache
def compiled(template: str) -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment.from_string(template)


def rendered(template: str, messages: Any, tools: Any, generation_prompt: bool, variables: dict[str, Any]) -> str:
    """Returns the prompt. Raises whatever the template does."""
    return compiled(template).render(
        messages=messages, tools=tools, documents=None, add_generation_prompt=generation_prompt, **variables
    )
