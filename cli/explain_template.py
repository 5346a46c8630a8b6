"""`specvino explain-template`: what a chat template can, and how its model writes calls and reasoning."""

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.cli.extras import needs

if TYPE_CHECKING:
    from specvino.engine.chat_template.capabilities import Capabilities
    from specvino.engine.chat_template.chat_template import ChatTemplate
    from specvino.engine.output_parsers.formats import ShownFormats

# What each capability says to a reader, in the order of the table.
_MEANINGS = {
    "system": "system messages at the beginning",
    "late_system": "system messages anywhere, and several",
    "developer": "developer messages",
    "consecutive": "two user messages in a row",
    "content": "form of a message's content",
    "images": "images among a content's parts",
    "tools": "tools",
    "calls": "calls of earlier turns",
    "parallel_calls": "several calls in one turn",
    "calls_beside_content": "calls of a turn that has content",
    "content_beside_calls": "content of a turn that has calls",
    "null_content": "calls only where the content is null",
    "arguments": "form of a call's arguments",
    "text_arguments": "arguments that are no JSON object",
    "short_ids": "ids of calls have to be nine letters and digits",
    "results": "results of tools",
    "result_ids": "ids of results",
    "result_names": "names of results are needed",
    "reasoning": "member that holds the reasoning of earlier turns",
    "thinking": "variables that change the reasoning",
}

_EXAMPLE = ("get_weather", {"city": "Paris", "days": 3})


def explain_template(
    template: Annotated[
        str,
        typer.Argument(
            help="A file with a chat template (.jinja), or a model, given as to `specvino serve`.",
            metavar="FILE|MODEL",
        ),
    ],
) -> None:
    """Show what a chat template supports, and the tool-call and reasoning formats that are derived from it.

    Nothing is looked up by name: conversations are rendered, and the results compared.
    """
    with needs("serve"):
        from specvino.engine.chat_template.chat_template import ChatTemplate
        from specvino.engine.chat_template.messages import missing
        from specvino.engine.chat_template.shown_formats import read_formats
        from specvino.engine.chat_template.template import TemplateRefusal
        from specvino.engine.errors import ModelLoadError

    try:
        text, tokens, special = _read(template)
        found = ChatTemplate(text, tokens)
    except ModelLoadError as error:
        sys.exit(f"specvino: {error}")
    except (OSError, UnicodeDecodeError, TemplateRefusal) as error:
        sys.exit(f"specvino: {template}: {error}")
    console = Console(soft_wrap=True)
    console.print(_capabilities(found.capabilities))
    for lack in missing(found.capabilities):
        console.print(f"Instead: {lack}.")
    for line in _formats(found, read_formats(found.template, special)):
        console.print(line)


def _read(template: str) -> tuple[str, dict[str, str], list[str]]:
    """Returns a template's text, the special tokens by their names, and all special tokens. Raises OSError,
    UnicodeDecodeError and ModelLoadError."""
    file = Path(template)
    if file.is_file() and file.suffix != ".gguf":
        return file.read_text("utf-8"), {"bos_token": "<s>", "eos_token": "</s>"}, []
    from specvino.engine.chat_template.files import read_templates
    from specvino.engine.errors import ModelLoadError
    from specvino.engine.models import resolve
    from specvino.engine.openvino.native.tokenizer import load_tokenizer
    from specvino.engine.openvino.preprocess import preprocessor, vocabulary

    source = resolve(template)
    tokenizer = load_tokenizer(str(source.path))
    texts = read_templates(source.path, tokenizer.get_original_chat_template())
    text = texts.default if texts.tool_use is None else texts.tool_use
    if not text:
        raise ModelLoadError("the model has no chat template")
    size = max(tokenizer.get_vocab().values()) + 1
    special = list(vocabulary.special_tokens(tokenizer, size).values())
    return text, preprocessor.special_variables(tokenizer), special


def _capabilities(capabilities: "Capabilities") -> Table:
    table = Table("the template shows", "", box=box.SIMPLE_HEAD)
    for field in fields(capabilities):
        assert field.name in _MEANINGS
    for name, meaning in _MEANINGS.items():
        table.add_row(meaning, _said(getattr(capabilities, name)))
    return table


def _said(value: object) -> str:
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
            yield Text("Tool calls: no format; forced ones are written as hermes3 does.")
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
