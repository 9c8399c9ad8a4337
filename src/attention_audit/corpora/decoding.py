"""Text files that must be UTF-8, and a clear word where they are not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def read_text(path: Path) -> str:
    """The file's content without a byte order mark; ValueError names the first bad byte."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        check_utf8(path, content.splitlines(keepends=True))
        raise


def check_utf8(path: Path, lines: Iterable[bytes]) -> None:
    """ValueError naming line and byte of the first of `lines` that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            raise ValueError(
                f"{path}: not UTF-8: line {number}, byte {error.start + 1} is 0x{byte:02x}; "
                f"convert the file first, e.g. iconv -f {_likely(line)} -t UTF-8 OLD > NEW"
            ) from None


def _likely(line: bytes) -> str:
    return "UTF-16" if line[:2] in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"
