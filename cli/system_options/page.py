"""The options of systems for their pages in the portal."""

from specvino.cli.system_options.table import Meaning, Table, read
from specvino.cli.system_options.words import effect
from specvino.document.loading import systems
from specvino.portal.pages.doubles import Option, StartLine


def start_lines() -> dict[str, StartLine]:
    """Returns how a server is started in the words of each system, by its name."""
    return {system: _start_line(system, table) for system in systems() if (table := read(system))}


def _start_line(system: str, table: Table) -> StartLine:
    options = {file: [_option(meaning) for meaning in meanings] for file, meanings in table.sources.items()}
    ours = f"specvino serve --dialect {system} {table.arguments}".strip()
    return StartLine(table.line, ours, table.version, table.note, options)


def _option(meaning: Meaning) -> Option:
    return Option(", ".join(meaning.names), effect(meaning), meaning.because or "")
