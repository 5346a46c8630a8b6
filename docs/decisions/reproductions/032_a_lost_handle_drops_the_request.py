"""Is a request dropped when nothing refers to its handle any more?"""

from pipelines import config, encode, pipeline
from verdict import report

pipe = pipeline()
handle = pipe.add_request(0, encode("hello"), config(max_new_tokens=500, ignore_eos=True))
pipe.step()
del handle
for _ in range(2):
    pipe.step()
report(not pipe.has_non_finished_requests(), "two steps after its handle was lost, a request of 500 tokens is over")
