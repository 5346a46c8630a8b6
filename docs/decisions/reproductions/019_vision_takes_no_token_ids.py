"""Does token input break the pipeline of a vision-language model?"""

from pipelines import TINY_VISION, config, failure, pipeline, tensor
from verdict import report

try:
    error = failure(pipeline(TINY_VISION), tensor(5, 6, 7), config())
except RuntimeError:
    report(False, "add_request refuses it")
report(bool(error), error or "it is answered")
