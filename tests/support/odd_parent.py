"""Starts an odd child, tells its process id, lets it hold its interpreter, and waits to be killed."""

import asyncio

from specvino.engine.processes.supervisor import Supervisor
from support.odd_child import Echo, Order


async def main() -> None:
    held = asyncio.Event()
    supervisor = Supervisor(
        "odd",
        "support.odd_child",
        Order(""),
        incoming=Echo,
        on_message=lambda message: held.set(),
        on_lost=lambda reason, stalled: None,
        busy=lambda: False,
        stall_timeout=60,
    )
    await supervisor.start()
    supervisor.send(Order("hold"))
    await held.wait()
    print(supervisor.pid, flush=True)
    await asyncio.sleep(3600)


asyncio.run(main())
