"""What a corpus or a vectors file is: a digest of its content, kept while the files stay."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import write_text
from attention_audit.store.plain import canonical, sha256

# A file system's clock may tick this coarsely: a younger file can change without showing it.
_COARSEST_CLOCK_NS = 2_000_000_000


def fingerprint(identity: Mapping[str, Any], files: Iterable[Path], cache: Path) -> str:
    """Sha256 (hex) of what a corpus or a vectors file is: its `identity` and its files' content.

    Files count by content and by name below their common folder, so neither their order nor the
    place of that folder matters. The content's digest is kept in one small JSON per set of files
    in the folder `cache`, and used again while all sizes and modification times are unchanged.

    Raises FileNotFoundError for a missing file, TypeError for an `identity` that is not plain.
    """
    paths = sorted({Path(os.path.abspath(path)) for path in files})
    content = _content_digest(paths, cache) if paths else ""
    return sha256(canonical({"identity": identity, "content": content}, "identity"))


def _content_digest(paths: Sequence[Path], cache: Path) -> str:
    stats = [_stat(path) for path in paths]
    stamp = sha256(json.dumps([(s.st_size, s.st_mtime_ns) for s in stats]))
    entry = cache / f"fingerprint-{sha256(json.dumps([str(p) for p in paths]))[:32]}.json"
    if (known := _known(entry)) and known[0] == stamp:
        return known[1]
    started = time.time_ns()
    content = _hash_files(paths)
    if max(s.st_mtime_ns for s in stats) < started - _COARSEST_CLOCK_NS:
        cache.mkdir(parents=True, exist_ok=True)
        write_text(entry, json.dumps({"stamp": stamp, "content": content}))
    return content


def _known(entry: Path) -> tuple[str, str] | None:
    """Stamp and digest, or None without an entry that can be used: the files tell it again."""
    try:
        stored = json.loads(entry.read_text(encoding="utf-8"))
        return str(stored["stamp"]), str(stored["content"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path} is missing: restore it or choose another source"
        ) from error


def _hash_files(paths: Sequence[Path]) -> str:
    if len(paths) == 1:  # a renamed file is the same corpus
        return hash_file(paths[0])
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    names = {path.relative_to(folder).as_posix(): hash_file(path) for path in paths}
    return sha256(json.dumps(names, sort_keys=True))


def hash_file(path: Path) -> str:
    """The sha256, in hex, of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
