"""The image process decodes one file after the other, away from prompts and steps, which must not wait for that.

It needs no OpenVINO, so it is there soon after the first image came.
"""

from specvino.engine.openvino.image_process import image_decoding
from specvino.engine.openvino.messages.images import Decode, Decoded, ImageRefused, StartImageProcess
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready


def answer(question: Decode) -> Decoded | ImageRefused:
    try:
        read = image_decoding.decode(question.file, question.longest_side, question.most_pixels, base64=question.base64)
    except image_decoding.ImageError as error:
        return ImageRefused(question.id, str(error))
    return Decoded(question.id, read.image, read.pixels)


def work(channel: BlockingChannel) -> None:
    channel.receive()
    channel.send(Ready())
    while True:
        channel.send(answer(channel.receive()))


if __name__ == "__main__":
    child.run(StartImageProcess | Decode, work, one_line)
