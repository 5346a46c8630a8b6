"""The preprocess process: conversations and texts become token ids."""

from specvino.engine.openvino import native  # noqa: F401 - before the first import of OpenVINO
