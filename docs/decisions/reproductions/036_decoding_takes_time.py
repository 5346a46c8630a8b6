"""Does the tokenizer take far longer to decode a token than a table of bytes?"""

import time

from openvino_genai import Tokenizer
from pipelines import TINY_TEXT
from verdict import report

TIMES = 2000
tokenizer = Tokenizer(TINY_TEXT)
table = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
begin = time.process_time()
for token in range(TIMES):
    tokenizer.decode([token % 900])
middle = time.process_time()
for token in range(TIMES):
    table[token % 900].decode(errors="ignore")
by_tokenizer, by_table = middle - begin, time.process_time() - middle
report(
    by_tokenizer > 10 * by_table,
    f"{by_tokenizer / TIMES * 1e6:.0f} µs a token by the tokenizer, {by_table / TIMES * 1e6:.1f} µs by a table",
)
