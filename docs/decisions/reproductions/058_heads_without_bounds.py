"""Does uvicorn read a head of any length, and wait for half a one without end?"""

import http.client
import threading

import uvicorn
from verdict import report

MEGABYTE = 1_000_000


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


config = uvicorn.Config(app, port=0, http="httptools", interface="asgi3", lifespan="off", log_level="critical")
server = uvicorn.Server(config)
thread = threading.Thread(target=server.run)
thread.start()
while not server.started:
    thread.join(0.01)
connection = http.client.HTTPConnection(*server.servers[0].sockets[0].getsockname())
try:
    connection.request("GET", "/", headers={"x": "y" * MEGABYTE})
    status = connection.getresponse().status
except OSError:
    status = None
finally:
    connection.close()
    server.should_exit = True
    thread.join()
report(status == 204, f"a head of a megabyte was answered with {status}")
