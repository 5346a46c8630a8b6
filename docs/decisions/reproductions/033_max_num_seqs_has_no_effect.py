"""Does the pipeline run more sequences at a time than `max_num_seqs` says?"""

from pipelines import config, encode, pipeline
from verdict import report

pipe, prompt = pipeline(scheduler={"max_num_seqs": 2}), encode("hello")
handles = [pipe.add_request(id, prompt, config()) for id in range(6)]
for _ in range(2):
    pipe.step()
began = sum(handle.can_read() for handle in handles)
report(began > 2, f"with max_num_seqs=2, {began} of 6 requests have tokens after two steps")
