"""Does a request without drafting's parameters break a pipeline with a draft model, and a threshold of 0 too?"""

from openvino_genai import draft_model
from pipelines import PRECISE, TINY_TEXT, config, encode, failure, pipeline
from verdict import report

prompt, errors = encode("hello"), {}
for name, parameters in {"none": {}, "threshold 0": {"assistant_confidence_threshold": 0.0}}.items():
    pipe = pipeline(draft_model=draft_model(TINY_TEXT, "CPU", **PRECISE))
    try:
        errors[name] = failure(pipe, prompt, config(**parameters))
    except RuntimeError:
        errors[name] = ""  # it is refused, and the pipeline is sound
broken = [name for name, words in errors.items() if words]
report(bool(broken), f"a step raises with: {', '.join(broken) or 'none of them'}")
