"""The reports of servers, which a wheel has as one compressed archive (`setup.py`), and a clone as files."""

import tarfile
from pathlib import Path


def unpack_reports(folder: Path) -> list[Path]:
    """Returns the reports in a folder, where it unpacks them if they are packed."""
    packed = folder / "reports.tar.xz"
    if packed.is_file():
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        packed.unlink()
    return sorted(folder.glob("*.ndjson"))
