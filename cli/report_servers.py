"""The servers of this user on this machine, and the keys they know, which `specvino report` hides."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from specvino.cli.settings import PREFIX, values_of
from specvino.cli.system_options.table import plain

KEYS = ("SPECVINO_API_KEY", "SPECVINO_METRICS_KEY")

# The first characters that the options of keys have alone, ours and those of other systems: some take prefixes.
_OPTIONS = ("--api-k", "--metrics-k")


@dataclass(frozen=True, slots=True)
class Server:
    """A process that is `specvino serve`: its arguments from `serve` on, its folder, by which relative paths are read,
    and its environment as it was at its start. What couldn't be read is a line of `unread`."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    unread: list[str] = field(default_factory=list)

    def known_keys(self) -> set[str]:
        """Returns the keys that its command line, environment and `--config` give or name a file of."""
        given = [*_options(self.words), *self._variables()]
        for config in [values[0] for name, values in given if name == "--config" and values]:
            given += self._of_file(config)
        known: set[str] = set()
        for name, values in given:
            if name.startswith(_OPTIONS):
                known.update(self._in_file(values[0]) if "file" in name and values else values)
        return {key.strip() for key in known} - {""}

    def _variables(self) -> Iterator[tuple[str, list[str]]]:
        """Yields the options that its environment sets, and the variables of keys as if they were options."""
        for name, value in self.environment.items():
            if name.startswith(PREFIX) and value:
                yield plain(f"--{name.removeprefix(PREFIX).lower()}"), [value]

    def _of_file(self, config: str) -> Iterator[tuple[str, list[str]]]:
        try:
            read = values_of(self.folder / config)
        except typer.BadParameter as error:
            self.unread.append(str(error))
            return
        for name, value in read.items():
            yield plain(f"--{name}"), [str(item) for item in (value if isinstance(value, list) else [value])]

    def _in_file(self, path: str) -> Iterator[str]:
        try:
            lines = (self.folder / path).read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            self.unread.append(f"{path}: can't be read: {getattr(error, 'strerror', 'it is not UTF-8')}")
            return
        yield from (line.split()[0] for line in lines if line.strip() and not line.lstrip().startswith("#"))


def servers(processes: Iterable[Any]) -> Iterator[Server]:
    """Yields each of psutil's processes that is a server."""
    import psutil

    for process in processes:
        try:
            words = process.cmdline()
            if "serve" in words and any("specvino" in word for word in words[: words.index("serve")]):
                own = tuple(words[words.index("serve") :])
                yield Server(own, Path(process.cwd()), process.environ())
        except psutil.Error:
            continue


def _options(words: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Returns the options on a command line by their plain names, with the words until the next one: some systems take
    several keys."""
    given: list[tuple[str, list[str]]] = []
    for word in words:
        name, joined, value = word.partition("=")
        if word.startswith("--"):
            given.append((plain(name), [value] if joined else []))
        elif given:
            given[-1][1].append(word)
    return given
