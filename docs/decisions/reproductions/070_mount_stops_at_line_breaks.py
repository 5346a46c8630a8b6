"""Does Starlette's Mount find nothing at a path with a line break?"""

from starlette.responses import PlainTextResponse
from starlette.routing import Match, Mount, Route
from verdict import report

mount = Mount("/v1", routes=[Route("/a/{id}/b", lambda _: PlainTextResponse("found"))])
match, _ = mount.matches({"type": "http", "method": "GET", "path": "/v1/a/\n/b", "root_path": ""})
report(match is Match.NONE, f"/v1/a/%0A/b: {match.name}")
