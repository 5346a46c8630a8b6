"""Does a beam search end at the model's end token, though it shall ignore it?"""

from pipelines import config, encode, finish, pipeline
from verdict import report

MOST = 40
pipe = pipeline()
own = pipe.get_config()
search = config(
    num_beams=2,
    num_return_sequences=2,
    ignore_eos=True,
    max_new_tokens=MOST,
    eos_token_id=own.eos_token_id,
    stop_token_ids=own.stop_token_ids,
)
[outputs] = finish(pipe, pipe.add_request(0, encode("hello"), search))
lengths = [len(part.generated_ids) for part in outputs]
report(min(lengths) < MOST, f"with ignore_eos and {MOST} tokens to make, the texts have {lengths}")
