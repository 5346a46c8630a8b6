"""Streams of a conversation gone wrong, each in a form that the protocol's table allows."""

from collections.abc import Iterator, Sequence
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output, Piece
from reference_server.http import Call, Headers, Http, Stream


class LosesLastPiece(Chat):
    """The last piece of a text never comes."""

    breaks = {"chat/streams/*"}

    def steps(self, outputs: Sequence[Output]) -> Iterator[tuple[Output, Piece]]:
        for output, piece in super().steps(outputs):
            if piece is not output.pieces[-1] or piece.kind == "call":
                yield output, piece


class AllAtOnce(Chat):
    """The whole text comes in one piece."""

    breaks = {"chat/streaming/pieces"}

    def steps(self, outputs: Sequence[Output]) -> Iterator[tuple[Output, Piece]]:
        for output in outputs:
            for kind in ("thoughts", "text"):
                pieces = [piece for piece in output.pieces if piece.kind == kind]
                if pieces:
                    tokens = tuple(token for piece in pieces for token in piece.tokens)
                    yield output, Piece(pieces[0].kind, "".join(piece.text for piece in pieces), tokens)
            yield from ((output, piece) for piece in output.pieces if piece.kind == "call")


class LatinStreams(Http):
    """A stream is declared in another encoding than it is in."""

    breaks = {"chat/streaming/media-type"}

    def stream_headers(self, call: Call) -> Headers:
        others = [(name, value) for name, value in super().stream_headers(call) if name != b"content-type"]
        return [(b"content-type", b"text/event-stream; charset=iso-8859-1"), *others]


class StreamsBySight(Chat):
    """A stream comes wherever the request speaks of one."""

    breaks = {"chat/streaming/not-streamed"}

    def chat(self, call: Call) -> dict[str, Any] | Stream:
        if isinstance(call.body, dict) and call.body.get("stream") is False:
            call.body["stream"] = True
        return super().chat(call)


class NullBesideRole(Chat):
    """The first delta has a content of null."""

    breaks = {"chat/streaming/content-is-text"}

    def role_delta(self) -> dict[str, Any]:
        return {**super().role_delta(), "content": None}


class HalvesCharacters(Chat):
    """Each token is decoded alone, so that characters of several tokens are lost."""

    breaks = {"chat/unicode/whole-characters"}

    def text_deltas(self, piece: Piece) -> Iterator[dict[str, Any]]:
        for half in ("\ufffd", "\ufffd") if not piece.text.isascii() else (piece.text,):
            yield {"content": half}


class CountsChoicesFromOne(Generation):
    """The first choice has the index 1."""

    breaks = {"chat/choices/two", "chat/choices/three-streamed"}

    def index(self, asked: Asked, choice: int) -> int:
        return super().index(asked, choice) + 1


class NoNullUsage(Chat):
    """The chunks before the usage that was asked for don't say that it is null."""

    breaks = {"chat/usage/streamed-null-before"}

    def usage_so_far(self, asked: Asked) -> dict[str, Any]:
        return {}
