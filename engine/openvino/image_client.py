"""The server's side of the image process."""

from specvino.engine.errors import ImageError
from specvino.engine.openvino.messages.images import Decode, Decoded, ImageRefused, StartImageProcess
from specvino.engine.processes.request_reply import ProcessCrashed, RequestReplyClient
from specvino.engine.request import ReadImage


class ImageClient:
    """Has images decoded, one after the other; those whose clients left are dropped before their turn."""

    def __init__(self, deadline: float) -> None:
        self._client = RequestReplyClient(
            "image",
            "specvino.engine.openvino.image_process",
            StartImageProcess(),
            Decoded | ImageRefused,
            deadline,
        )

    @property
    def pid(self) -> int | None:
        """Returns the process, None if it was not needed yet or is being restarted."""
        return self._client.process.pid

    async def decode(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        """Returns the picture in a file, given as its bytes or their base64. Raises ImageError and
        EngineUnavailable."""
        base64 = isinstance(file, str)
        data = file.encode(errors="replace") if isinstance(file, str) else file
        try:
            answer = await self._client.ask(lambda id: Decode(id, data, base64, longest_side, most_pixels))
        except ProcessCrashed:
            raise ImageError("The image can't be decoded.") from None
        if isinstance(answer, ImageRefused):
            raise ImageError(answer.reason)
        return ReadImage(answer.image, answer.pixels)

    async def close(self) -> None:
        await self._client.close()
