"""`specvino explain-template`: what a chat template supports, and how its model writes tool calls and reasoning."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.cli.ending import end, needs, needs_model
from specvino.conformance.reports import inert

if TYPE_CHECKING:
    from specvino.engine.chat_template.capabilities import Capabilities
    from specvino.engine.chat_template.chat_template import ChatTemplate
    from specvino.engine.output_parsers.formats import ShownFormats

# How the table names each capability, in its order.
_MEANINGS = {
    "system": "system messages at the beginning",
    "late_system": "several system messages, at any position",
    "developer": "developer messages",
    "consecutive": "two user messages in a row",
    "content": "format of message content",
    "images": "images in message content",
    "tools": "tools",
    "calls": "tool calls of earlier turns",
    "parallel_calls": "several tool calls in one turn",
    "calls_beside_content": "tool calls of a turn with content",
    "content_beside_calls": "content of a turn with tool calls",
    "null_content": "tool calls only if content is null",
    "arguments": "format of tool call arguments",
    "text_arguments": "arguments that aren't a JSON object",
    "short_ids": "tool call IDs must be nine letters and digits",
    "results": "tool results",
    "result_ids": "IDs of tool results",
    "result_names": "tool results require names",
    "reasoning": "field for the reasoning of earlier turns",
    "thinking": "variables that control reasoning",
}

_EXAMPLE = ("get_weather", {"city": "Paris", "days": 3})


def explain_template(
    template: Annotated[
        str,
        typer.Argument(
            help="A chat template file (.jinja), or a model, given as to `specvino serve`.",
            metavar="FILE|MODEL",
        ),
    ],
) -> None:
    """Show what a chat template supports, and the tool-call and reasoning formats derived from it.

    Nothing is looked up by name: test conversations are rendered, and the results compared.
    """
    with needs("serve"):
        from specvino.engine.chat_template.chat_template import ChatTemplate
        from specvino.engine.chat_template.messages import missing
        from specvino.engine.chat_template.shown_formats import read_formats
        from specvino.engine.chat_template.template import TemplateRefusal

    try:
        with needs_model():
            text, tokens, special = _read(template)
            chat_template = ChatTemplate(text, tokens)
    except (OSError, UnicodeDecodeError, TemplateRefusal) as error:
        end(f"{template}: {error}")
    console = Console(soft_wrap=True)
    console.print(_capabilities(chat_template.capabilities))
    for lack in missing(chat_template.capabilities):
        console.print(f"Instead: {lack}.")
    for line in _formats(chat_template, read_formats(chat_template.template, special)):
        line.plain = inert.block(line.plain)
        console.print(line)


def _read(template: str) -> tuple[str, dict[str, str], list[str]]:
    """Returns a template's text, its special tokens by variable name, and all special tokens. Raises OSError,
    UnicodeDecodeError and ModelLoadError."""
    file = Path(template)
    if file.is_file() and file.suffix != ".gguf":
        return file.read_text("utf-8"), {"bos_token": "<s>", "eos_token": "</s>"}, []
    from specvino.engine.chat_template.files import read_templates
    from specvino.engine.errors import UnusableModel
    from specvino.engine.models import resolve
    from specvino.engine.openvino.native.tokenizer import load_tokenizer
    from specvino.engine.openvino.preprocess import preprocessor, vocabulary

    source = resolve(template)
    tokenizer = load_tokenizer(str(source.path))
    texts = read_templates(source.path, tokenizer.get_original_chat_template())
    text = texts.default if texts.tool_use is None else texts.tool_use
    if not text:
        raise UnusableModel("the model has no chat template")
    size = max(tokenizer.get_vocab().values()) + 1
    special = list(vocabulary.special_tokens(tokenizer, size).values())
    return text, preprocessor.special_variables(tokenizer), special


def _capabilities(capabilities: "Capabilities") -> Table:
    table = Table("the template supports", "", box=box.SIMPLE_HEAD)
    for field in fields(capabilities):
        assert field.name in _MEANINGS
    for name, meaning in _MEANINGS.items():
        table.add_row(meaning, Text(inert.line(_shown(getattr(capabilities, name)))))
    return table


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case frozenset():
            return ", ".join(sorted(value)) or "none"
        case None:
            return "none"
    return str(value)


def _formats(template: "ChatTemplate", formats: "ShownFormats") -> Iterator[Text]:
    from specvino.engine.output_parsers.call_format import CallFormat
    from specvino.engine.output_parsers.call_grammar import call_text
    from specvino.engine.output_parsers.reasoning_tags import ReasoningTags

    match formats.tool:
        case None:
            yield Text("Tool calls: no format; forced calls use the hermes3 format.")
        case str(name):
            yield Text(f"Tool calls: {name}")
        case CallFormat() as format:
            calls = format.separator.join([call_text(format, *_EXAMPLE)] * (2 if format.parallel else 1))
            yield Text("Tool calls, for example:\n")
            yield Text(f"{format.section[0]}{calls}{format.section[1]}\n", style="cyan")
    match formats.reasoning:
        case None:
            yield Text("Reasoning: no format")
        case str(name):
            yield Text(f"Reasoning: {name}")
        case ReasoningTags(start, end, title):
            yield Text(f"Reasoning: {start}{title}…{end}")
