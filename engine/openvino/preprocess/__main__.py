"""The preprocess process answers one message after the other, until the server goes."""

from specvino.engine.openvino.messages import chunking, image_tags
from specvino.engine.openvino.messages.preprocess import (
    Decode,
    Decoded,
    FromPrepare,
    LoadTokenizer,
    Prepare,
    Prepared,
    PromptRefused,
    PromptTooLong,
    Tokenize,
)
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess import image_decoding, vocabulary
from specvino.engine.openvino.preprocess.preprocessor import Preparer, Truncated
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready


def answer(preparer: Preparer, request: Prepare | Tokenize | Decode) -> FromPrepare:
    try:
        match request:
            case Prepare(as_text=True):
                text = preparer.write(request.conversation())
                ids = preparer.tokenize(image_tags.without(text), add_special_tokens=True)
                return Prepared(request.id, ids, text, preparer.ending)
            case Prepare():
                ids = preparer.prepare(request.conversation())
                return Prepared(request.id, ids, ending=preparer.ending)
            case Tokenize():
                ids = preparer.tokenize(request.text, add_special_tokens=request.add_special_tokens)
                return Prepared(request.id, ids)
            case Decode():
                return Decoded(
                    request.id, image_decoding.decode(request.file, request.longest_side, base64=request.base64)
                )
    except Truncated as error:
        assert preparer.limit is not None
        return PromptTooLong(request.id, error.tokens, preparer.limit)
    except Exception as error:
        return PromptRefused(request.id, one_line(error))


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    preparer = Preparer(load_tokenizer(settings.path), vocabulary.model_size(settings.path))
    channel.send(preparer.vocabulary())
    channel.send(Ready())
    while True:
        message = answer(preparer, channel.receive())
        if isinstance(message, Decoded):
            for piece, more in chunking.cut(message.image):
                channel.send(Decoded(message.id, piece, more))
        else:
            channel.send(message)


if __name__ == "__main__":
    child.run(LoadTokenizer | Prepare | Tokenize | Decode, work, one_line)
