"""An MCP server on standard input and output with one tool, for clients that bring such tools to a model."""

import json
import sys

TOOL = {
    "name": "look_up",
    "description": "Looks up a word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}


def answer(method: str, params: dict) -> dict:
    match method:
        case "initialize":
            capabilities = {"tools": {}}
            info = {"name": "words", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"{params['arguments']['word']} is a fruit"}]}
        case _:
            return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
