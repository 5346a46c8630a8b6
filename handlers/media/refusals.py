"""Why an image isn't read. Each names the part of the request that holds it."""

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class MediaRefused(Exception):
    """`str()` is a sentence for the client; it never tells what another server or a file holds."""

    code = ErrorCode.INVALID_IMAGE

    def at(self, param: str) -> ApiError:
        """Returns the error that names the part with the image."""
        return ApiError(self.code, str(self), param=param)


class InvalidImage(MediaRefused):
    """The image is there, but can't be read."""


class InvalidUrl(MediaRefused):
    """Nothing is read from such a place."""

    code = ErrorCode.INVALID_IMAGE_URL


class DownloadFailed(MediaRefused):
    """The image should be there."""

    code = ErrorCode.FAILED_TO_DOWNLOAD_IMAGE
