"""Does a pipeline on MULTI raise, or end the process, where it makes its cache?"""

from pipelines import in_a_child
from verdict import report

BODY = """
from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig
from pipelines import TINY_TEXT, config, encode, finish
scheduler = SchedulerConfig()
scheduler.cache_size = 1
pipe = ContinuousBatchingPipeline(TINY_TEXT, scheduler, {device!r}, {properties!r})
finish(pipe, pipe.add_request(0, encode("hello"), config()))
"""
PROPERTIES = {"without properties": {}, "with an 8-bit cache": {"KV_CACHE_PRECISION": "u8"}}

if (code := in_a_child(BODY.format(device="CPU", properties={}))) != 0:
    raise SystemExit(f"an ordinary pipeline ended with {code}")
ended = {
    name: in_a_child(BODY.format(device="MULTI:CPU", properties=properties)) for name, properties in PROPERTIES.items()
}
report(any(ended.values()), f"on MULTI:CPU the process ended with {ended}")
