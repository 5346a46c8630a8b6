"""Shows the progress of a pull on stderr: bars on a terminal, otherwise a line for each stage."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class PullProgress:
    """A progress display. Pass `report` to `pull` or `resolve`; nothing is shown until it is called."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[size]}"))
        self._bars = Progress(*columns, TimeElapsedColumn(), console=self._console)
        self._stage = ""
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars.live.is_started:  # stopping prints a line
            self._bars.stop()

    def report(self, stage: str, done: int, total: int) -> None:
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
