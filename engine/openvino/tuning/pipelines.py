"""Loads a model as the worker does, to measure it."""

from collections.abc import Callable

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.tuning.figures import Measured
from specvino.engine.openvino.worker.pipeline import load


def loading(source: ModelSource, cache_size: int) -> Callable[[PipelineOptions], Measured]:
    """Returns what loads the model with given options. It raises ModelLoadError."""

    def loaded(options: PipelineOptions) -> Measured:
        try:
            pipeline = load(LoadModel(str(source.path), 0, cache_size=cache_size, options=options))
            measured = Measured(pipeline, vision=source.vision)
            measured.figures(-1)  # the first steps take longer
        except (RuntimeError, ValueError) as error:
            raise ModelLoadError(f"{source.path}: {one_line(error)}") from error
        return measured

    return loaded
