"""What the server is made of."""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from reference_server.http import Route
    from reference_server.server import ReferenceServer


class Part:
    """A part of the server, which finds the others by `server`. Each of its methods has one idea, so that a mutant can
    override just one."""

    routes: ClassVar["tuple[Route, ...]"] = ()
    """The operations that it answers."""
    breaks: ClassVar[set[str]] = set()
    """Of a mutant: the rules that it is there for, or patterns of which it breaks every rule."""

    def __init__(self, server: "ReferenceServer") -> None:
        self.server = server
