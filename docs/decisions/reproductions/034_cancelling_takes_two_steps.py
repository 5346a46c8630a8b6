"""Are a cancelled request's blocks in use for further steps?"""

from pipelines import config, encode, pipeline
from verdict import report

pipe = pipeline()
handle = pipe.add_request(0, encode("hello"), config(max_new_tokens=500, ignore_eos=True))
for _ in range(5):
    pipe.step()
handle.cancel()
steps = 0
while pipe.get_metrics().cache_usage > 0 and steps < 10:
    pipe.step()
    steps += 1
report(steps > 0, f"the metrics show its blocks as free {steps} steps after it was cancelled")
