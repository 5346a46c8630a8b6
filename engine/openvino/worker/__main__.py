"""The worker process: runs the pipeline's steps and sends one message per step, with the outputs of all sequences."""

from specvino.engine.openvino.messages.worker import Loaded, ToWorker
from specvino.engine.openvino.native import mapped_files
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.native.error_output import last_words
from specvino.engine.openvino.worker.pipeline import capacity, load, state_sizes
from specvino.engine.openvino.worker.scheduler import Scheduler
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    if settings.expendable:
        child.expendable()
    pipeline = load(settings)
    cache_tokens = None
    if settings.cache_size:
        device = chosen(settings.options.device, settings.options.plugin_config)
        cache_tokens = capacity(pipeline, settings.drafting, device.block, state_sizes(settings))
        channel.send(Loaded(cache_tokens))
    mapped_files.release(settings.path)
    scheduler = Scheduler(
        pipeline,
        settings.max_sequences,
        step_tokens=settings.options.max_num_batched_tokens,
        prefix_cache=settings.prefix_cache,
        drafting=settings.drafting,
        cache_tokens=cache_tokens,
        hidden_size=settings.hidden_size,
    )
    channel.send(Ready())
    while True:
        if scheduler.idle:
            scheduler.renew(lambda: load(settings))
        message = channel.receive() if scheduler.idle else channel.poll()
        while message is not None:
            scheduler.receive(message)
            message = channel.poll()
        channel.send(scheduler.step())


if __name__ == "__main__":
    child.run(ToWorker, work, last_words)
