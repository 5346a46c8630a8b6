"""Does a token id that the model doesn't have break the pipeline?"""

from pipelines import config, failure, pipeline, tensor
from verdict import report

try:
    error = failure(pipeline(), tensor(5, 10**6, 7), config(repetition_penalty=1.5))
except RuntimeError:
    report(False, "add_request refuses it")
report(bool(error), error or "it is answered")
