"""Does OpenVINO, in a process forked after the parent used it, compute in a single thread?"""

import json
import os
from pathlib import Path

import numpy
import openvino
from openvino import opset13
from verdict import cannot_tell, report

SIZE = 1024
TASKS = Path("/proc/self/task")


def times() -> dict[str, int]:
    """Returns the CPU time of each thread, in ticks."""
    result = {}
    for task in TASKS.iterdir():
        result[task.name] = int((task / "stat").read_text().rpartition(")")[2].split()[11])
    return result


def compute() -> list[int]:
    """Multiplies matrices, and returns the CPU times that the two busiest threads took for it."""
    matrix = opset13.parameter([SIZE, SIZE], openvino.Type.f32)
    node = matrix
    for _ in range(4):
        node = opset13.matmul(node, matrix, False, False)
    compiled = openvino.Core().compile_model(openvino.Model([opset13.result(node)], [matrix], "work"), "CPU")
    before = times()
    for _ in range(6):
        compiled([numpy.full((SIZE, SIZE), 1e-3, numpy.float32)])
    return sorted((after - before.get(name, 0) for name, after in times().items()), reverse=True)[:2]


if not TASKS.exists() or len(os.sched_getaffinity(0)) < 2:
    cannot_tell("it takes Linux and two cores")
parent = compute()
receive, send = os.pipe()
if os.fork() == 0:
    os.write(send, json.dumps(compute()).encode())
    os._exit(0)
os.close(send)
forked = json.loads(os.read(receive, 100) or b"[0, 0]")
if parent[1] * 4 < parent[0]:
    cannot_tell(f"the parent's busiest threads took {parent} ticks: it doesn't compute in parallel here")
report(
    forked[1] * 8 < forked[0], f"the busiest threads took {parent} ticks in the parent, {forked} in the forked child"
)
