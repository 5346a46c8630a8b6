"""The real engine, on OpenVINO GenAI: a prepare and a worker process for the model, and their asyncio client."""

from specvino.engine.openvino.engine import OpenVINOEngine

__all__ = ["OpenVINOEngine"]
