"""Read the transcripts of agent programs from the disk, for `capture`: who said what, and which commands were run.

Transcripts are outside the book: only a regular file whose path a hook gave us is opened, for reading, up to a limit.
The verb `capture` calls `read_transcript`; `text/transcripts.py` parses what is read, and `context/capture.py` finds
facts in it.
"""

import os
import stat as st

from commonplace.model.errors import InvalidContent, NotFound
from commonplace.model.lazy import load_any
from commonplace.text.transcripts import Transcript, parse_transcript

MAX_TRANSCRIPT_BYTES = 64_000_000
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def read_transcript(path: str, host: str, end: int) -> Transcript:
    """Return what the first `end` bytes of a file say. Raise NotFound or InvalidContent if it is unreadable."""
    return parse_transcript(_read_bytes(path, end), host)


def _read_bytes(path: str, end: int) -> bytes:
    """Return the first `end` bytes of a file; the whole of a compressed one."""
    is_compressed = path.endswith(".zst")
    try:
        # Neither a pipe, which would wait for a writer, nor a link, which may lead anywhere.
        with open(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
            found = os.fstat(file.fileno())
            if not st.S_ISREG(found.st_mode):
                raise InvalidContent("The transcript is not a file.")
            size = found.st_size if is_compressed else min(found.st_size, end)
            if size > MAX_TRANSCRIPT_BYTES:
                raise InvalidContent(f"The transcript is longer than {MAX_TRANSCRIPT_BYTES:,} bytes.")
            data = file.read(max(0, size))
    except IsADirectoryError:
        raise InvalidContent("The transcript is not a file.") from None
    except (OSError, ValueError):
        raise NotFound("The transcript is missing or cannot be read.") from None
    return _decompress(data) if is_compressed else data


def _decompress(data: bytes) -> bytes:
    """Return the content of a Zstandard file up to the limit, if Python or an installed package can read it."""
    zstd = load_any("compression.zstd", "zstandard")  # Python has the first since 3.14
    if zstd is None:
        raise InvalidContent("The transcript is compressed with Zstandard; install `zstandard` to read it.")
    decompressor = zstd.ZstdDecompressor()
    try:
        if not hasattr(decompressor, "stream_reader"):
            return bytes(decompressor.decompress(data, MAX_TRANSCRIPT_BYTES))
        with decompressor.stream_reader(data) as reader:
            return bytes(reader.read(MAX_TRANSCRIPT_BYTES))
    except zstd.ZstdError:
        raise InvalidContent("The transcript cannot be decompressed.") from None
