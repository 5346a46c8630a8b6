"""Does uvicorn, after an orderly end, raise the signal again that ended it?"""

import signal

from pipelines import in_a_child
from verdict import report

CODE = """
import os, signal, uvicorn
async def app(scope, receive, send):
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
        os.kill(os.getpid(), signal.SIGTERM)
uvicorn.run(app, port=0, log_level="critical")
"""
code = in_a_child(CODE)
report(code == -signal.SIGTERM, f"a server that was told to end by SIGTERM, and did, ended with {code}")
