"""Are the weights' files still in memory after an answer, beside the repacked weights?"""

import psutil
from pipelines import TINY_TEXT, config, finish, pipeline, tensor
from verdict import report

pipe = pipeline()
finish(pipe, pipe.add_request(0, tensor(1, 2, 3), config()))
maps = psutil.Process().memory_maps()
resident = sum(file.rss for file in maps if file.path == f"{TINY_TEXT}/openvino_model.bin")
report(resident > 0, f"{resident} bytes of the weights' file are in memory")
