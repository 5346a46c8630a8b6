"""Shows the progress of pulls and starts on stderr: bars on a terminal, otherwise a line for each stage."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from specvino.engine.progress import Report


class Progress:
    """A progress display: a context that yields the callback for `pull`, `resolve` and `start`. Nothing is shown until
    that is called.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[size]}"))
        self._bars = Bars(*columns, TimeElapsedColumn(), console=self._console)
        self._stage = ""
        self._task = TaskID(0)

    def __enter__(self) -> "Report":
        return self._report

    def __exit__(self, *_: object) -> None:
        if self._bars.live.is_started:  # stopping prints a line
            self._bars.stop()

    def _report(self, stage: str, done: int, total: int) -> None:
        size = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB" if total else ""
        if stage != self._stage:
            self._begin(stage, f"{total / 1e6:.0f} MB" if total else "")
        if self._console.is_terminal:
            # A stage of unknown length has no total: its bar pulses.
            self._bars.update(self._task, completed=done, total=total or None, size=size)

    def _begin(self, stage: str, size: str) -> None:
        self._stage = stage
        if not self._console.is_terminal:
            self._console.print(f"specvino: {stage} {size}".rstrip(), highlight=False)
            return
        self._bars.start()
        for task in self._bars.tasks:
            self._bars.update(task.id, total=1, completed=1)
        self._task = self._bars.add_task(stage, total=None, size=size)
