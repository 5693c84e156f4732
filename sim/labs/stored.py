"""The file of models as it is stored: a line of JSON, then bytes; whether it is whole.

What asks for NumPy is in weights.py, so that damage is told before anything waits for NumPy.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

FORMAT = "bonus-token-text-1"


class DamagedError(ValueError):
    """A file of models is not what was written. The message says what is wrong."""


def opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    """What the first line says, and all behind it. Raises DamagedError."""
    line, _, body = data.partition(b"\n")
    try:
        header = json.loads(line)
        found = header["format"]
        sizes = [size for *_, size in header["arrays"]]
        whole = header["crc32"] == zlib.crc32(body)
    except (ValueError, KeyError, TypeError) as error:
        told = f"its first line cannot be read ({type(error).__name__})"
        raise DamagedError(told) from error
    if found != FORMAT:
        raise DamagedError(f"its format is {found!r}, not {FORMAT!r}")
    if not whole:
        raise DamagedError(f"{len(body)} bytes came, which are not the {sum(sizes)} written")
    return header, body
