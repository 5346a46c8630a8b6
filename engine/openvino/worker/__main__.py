"""The worker process: it steps the pipeline and sends one message a step for all sequences."""

from specvino.engine.openvino.messages.worker import Loaded, ToWorker
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.worker.cache import capacity
from specvino.engine.openvino.worker.pipeline import load
from specvino.engine.openvino.worker.step_loop import StepLoop
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    if settings.plain:
        child.expendable()
    pipeline = load(settings)
    drafting = None if settings.plain else settings.drafting
    cache_tokens = None
    if settings.cache_size:
        device = chosen(settings.options.device, settings.options.plugin_config)
        cache_tokens = capacity(pipeline, drafting, device.block)
        channel.send(Loaded(cache_tokens))
    worker = StepLoop(
        pipeline,
        settings.max_sequences,
        step_tokens=settings.options.max_num_batched_tokens,
        prefix_cache=settings.prefix_cache,
        drafting=drafting,
        cache_tokens=cache_tokens,
    )
    channel.send(Ready())
    while True:
        if worker.idle:
            worker.renew(lambda: load(settings))
        message = channel.receive() if worker.idle else channel.poll()
        while message is not None:
            worker.receive(message)
            message = channel.poll()
        channel.send(worker.step())


if __name__ == "__main__":
    child.run(ToWorker, work, one_line)
