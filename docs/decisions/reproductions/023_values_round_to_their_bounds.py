"""Does a valid 64-bit number become a forbidden 32-bit one?"""

from pipelines import config, encode, last_line, pipeline
from verdict import report

pipe, prompt = pipeline(), encode("hello")
VALUES = {"min_p": 1 - 1e-12, "temperature": 1e-46, "top_p": 1e-46}
refused = []
for id, (name, value) in enumerate(VALUES.items()):
    try:
        pipe.add_request(id, prompt, config(do_sample=True, **{name: value}))
    except RuntimeError as error:
        refused.append(last_line(error))
report(bool(refused), "; ".join(refused) or "all are taken")
