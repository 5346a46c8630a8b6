"""Tables that are shown in the terminal and in a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """The first column has names, the others have numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def rich(self) -> RichTable:
        table = RichTable(title=self.title)
        for index, column in enumerate(self.columns):
            table.add_column(column, justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        rules = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = "".join(f"| {' | '.join(row)} |\n" for row in [self.columns, rules, *self.rows])
        return f"## {self.title}\n\n{lines}"
