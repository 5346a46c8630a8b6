"""The diagrams in our documents, in Mermaid."""

import re
from collections.abc import Callable, Iterator

from specvino.generated.streams import STREAMS, Machine, Stream
from structure.imports import PROJECT, Graph, folders, reduced, rooms_of

ARCHITECTURE = PROJECT / "ARCHITECTURE.md"
ILLUSTRATED = (ARCHITECTURE, PROJECT / "engine" / "README.md")
_PLACE = re.compile(r"(<!-- drawn: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def imports(graph: Graph) -> str:
    """An arrow from each room to those that it imports, without the arrows that others imply."""
    arrows = reduced(graph)
    lines = [
        f"  {_id(room)}[{room}]" + (f" --> {' & '.join(map(_id, sorted(arrows[room])))}" if arrows[room] else "")
        for room in sorted(arrows)
        if arrows[room] or _id(room) != room
    ]
    return "\n".join(["flowchart TD", *lines])


def stream(table: Stream) -> str:
    """A box for each thing that a stream builds, and in it its facts: what opens it, what follows, what ends it."""

    def box(machine: Machine, depth: int) -> Iterator[str]:
        pad = "  " * depth
        one_each = f", one for each {machine.key}" if machine.key else ""
        yield f'{pad}subgraph {machine.name}["{machine.name}{one_each}"]'
        for inner in table.machines:
            if inner.inside == machine.name:
                yield from box(inner, depth + 1)
        close = (machine.close,) if machine.close else ()
        states = (machine.open, ", ".join(machine.body), " or ".join((*close, *machine.end)))
        nodes = [f'{machine.name}_{index}["{state}"]' for index, state in enumerate(states) if state]
        yield f"{pad}  {' --> '.join(nodes)}"
        yield f"{pad}end"

    outermost = next(machine for machine in table.machines if machine.inside is None)
    return "\n".join(["flowchart LR", *box(outermost, 1)])


def _id(name: str) -> str:
    return re.sub(r"\W", "_", name)


DRAWINGS: dict[str, Callable[[], str]] = {
    "folders": lambda: imports(folders()),
    "engine": lambda: imports(rooms_of("engine", "openvino")),
    "chat-stream": lambda: stream(STREAMS["chat"]),
}


def drawn(text: str) -> str:
    """The text with each of its drawings made anew."""
    return _PLACE.sub(lambda match: f"{match[1]}```mermaid\n{DRAWINGS[match['name']]()}\n```\n{match[3]}", text)
