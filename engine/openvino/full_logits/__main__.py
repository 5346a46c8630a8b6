"""The full-logits process: it answers the same messages as the worker."""

from specvino.engine.openvino.full_logits.ends import ends
from specvino.engine.openvino.full_logits.model import load
from specvino.engine.openvino.full_logits.step_loop import StepLoop
from specvino.engine.openvino.messages.worker import ToWorker
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    model = load(settings.path, settings.options)
    token_bytes = model.token_bytes()
    loop = StepLoop(
        model,
        ends(settings.path),
        settings.max_sequences,
        settings.options.max_num_batched_tokens,
        settings.cache_size * 2**30 // token_bytes if settings.cache_size else None,
    )
    channel.send(Ready())
    while True:
        message = channel.receive() if loop.idle else channel.poll()
        while message is not None:
            loop.receive(message)
            message = channel.poll()
        channel.send(loop.step())


if __name__ == "__main__":
    child.run(ToWorker, work, one_line)
