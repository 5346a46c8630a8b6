"""A chat template, rendered by Jinja2 in the environment that transformers documents for it.

It follows transformers 4.57 (`utils/chat_template_utils.py`): sandboxed, blocks trimmed, loop controls, the
`generation` tag, `tojson` without HTML escapes, `raise_exception` and `strftime_now`. Unlike in transformers' immutable
sandbox, lists may be changed, as in llama.cpp: templates of Kimi K2 append to one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

Message = Mapping[str, Any]

_LONGEST_REASON = 500  # characters: a template may put a complete message into it


class TemplateRefusal(ValueError):
    """The template can't be rendered for these messages, or not at all; `str()` is the reason."""


class Template:
    """A compiled template. `tokens` are the variables of the tokenizer's special tokens, such as `bos_token`. Raises
    TemplateRefusal for a text that isn't a template."""

    def __init__(self, text: str, tokens: Mapping[str, str] | None = None) -> None:
        self.text = text
        self._tokens = dict(tokens or {})
        try:
            self._compiled = _ENVIRONMENT.from_string(text)
        except TemplateError as error:
            raise TemplateRefusal(_sentence(f"line {getattr(error, 'lineno', 1)}: {error.message}")) from None
        except (SyntaxError, RecursionError, ValueError) as error:
            # The code that Jinja2 generates is nested too deeply, or contains a number with too many digits.
            raise TemplateRefusal(_sentence(f"{type(error).__name__}: {error}")) from None

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Message] | None = None,
        *,
        add_generation_prompt: bool = True,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """Returns the prompt. `messages` and `tools` are as in OpenAI's API, except for the arguments of calls, which
        most templates expect as objects. Raises TemplateRefusal."""
        context = {"documents": None, **self._tokens, **(variables or {})}
        context |= {"messages": messages, "tools": tools or None, "add_generation_prompt": add_generation_prompt}
        try:
            return self._compiled.render(context)
        except TemplateError as error:
            raise TemplateRefusal(_sentence(error.message or type(error).__name__)) from None
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
            # A bug of the template, such as text + None.
            raise TemplateRefusal(_sentence(f"{type(error).__name__}: {error}")) from None


class _Generation(Extension):
    """The tag around an assistant's output, from which training masks are made. It renders its content."""

    tags = {"generation"}  # noqa: RUF012 - as in Jinja2

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Callable[[], str]) -> str:
        return caller()


def _sentence(reason: str) -> str:
    """Returns a reason as one line for a client."""
    return " ".join(reason.split())[:_LONGEST_REASON]


def _raise(message: str) -> None:
    raise TemplateError(message)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _strftime_now(format: str) -> str:
    return datetime.now().strftime(format)  # the local time, as in transformers


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals |= {"raise_exception": _raise, "strftime_now": _strftime_now}
    return environment


_ENVIRONMENT = _environment()
