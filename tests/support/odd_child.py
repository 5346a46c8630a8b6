"""A child process that does what it is told: for tests of its supervision."""

import os
import re
import signal
import time

import msgspec

from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready


class Order(msgspec.Struct, tag=True):
    word: str


class Echo(msgspec.Struct, tag=True):
    word: str


def work(channel: BlockingChannel) -> None:
    obey(channel, channel.receive().word)
    channel.send(Ready())
    while True:
        obey(channel, channel.receive().word)


def obey(channel: BlockingChannel, word: str) -> None:
    match word:
        case "raise":
            raise ValueError("first line\nsecond line")
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            time.sleep(3600)
        case "hold":  # the interpreter, for ever: no signal handler and no other thread of Python runs meanwhile
            channel.send(Echo(word))
            re.match("(a|a)*$", "a" * 60 + "b")
        case "":
            pass
        case _:
            channel.send(Echo(word))


if __name__ == "__main__":
    child.run(Order, work, lambda error: str(error).splitlines()[0])
