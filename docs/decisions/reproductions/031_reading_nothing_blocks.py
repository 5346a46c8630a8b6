"""Does reading from a running request that has nothing to read block for ever, with the interpreter's lock?"""

from pipelines import in_a_child
from verdict import report

HANDLE = "from pipelines import *; handle = pipeline().add_request(0, encode('hello'), config())"
if in_a_child(HANDLE) != 0:
    raise SystemExit("the request couldn't be made")
report(in_a_child(f"{HANDLE}; handle.read()", seconds=5) is None, "a read before the first step was given 5 s")
