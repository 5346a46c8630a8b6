"""The worker process: it loads the model, and runs its steps for all sequences together."""

from specvino.engine.openvino import native  # noqa: F401 - before the first import of OpenVINO
