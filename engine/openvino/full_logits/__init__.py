"""The full-logits process, for requests that need the scores of the whole vocabulary, which the pipeline doesn't
return.
"""

from specvino.engine.openvino import native  # noqa: F401 - before the first import of OpenVINO
