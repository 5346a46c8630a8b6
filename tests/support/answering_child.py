"""A child process that answers questions, or does what they say: for tests of asking."""

import os
import signal

import msgspec

from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Failed, Ready


class Question(msgspec.Struct, tag=True):
    id: int
    word: str


class Answer(msgspec.Struct, tag=True):
    id: int
    word: str
    pid: int


def work(channel: BlockingChannel) -> None:
    first = channel.receive()
    if first.word == "fail":
        raise ValueError("it can't load")
    channel.send(Ready())
    while True:
        _answer(channel, channel.receive())


def _answer(channel: BlockingChannel, question: Question) -> None:
    with child.bounded(0.2, lambda: _leave(channel, question)):
        _obey(question.word)
    channel.send(Answer(question.id, question.word, os.getpid()))


def _obey(word: str) -> None:
    match word:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "compute":
            while True:
                pass


def _leave(channel: BlockingChannel, question: Question) -> None:
    channel.send(Failed("too much computing"))
    channel.send(Answer(question.id, "too much", os.getpid()))
    os._exit(0)


if __name__ == "__main__":
    child.run(Question, work, str)
