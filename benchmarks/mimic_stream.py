"""How much memory the MIMIC reader takes: a synthetic NOTEEVENTS of any size, read and measured.

    python benchmarks/mimic_stream.py [GIGABYTES, 1 if left out] [FOLDER for the tables]

The notes are nasty: quoted commas, doubled quotes, blank lines and CR LF in the text, some of a
hundred thousand words, some of other categories. A sixth of them are the discharge summaries of
wanted admissions. The tables are removed afterwards.
"""

from __future__ import annotations

import csv
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attention_audit.corpora.mimic import DIAGNOSES, NOTES, Mimic

ROOT = Path(__file__).resolve().parent.parent
HEADER = (
    *("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME"),
    *("CATEGORY", "DESCRIPTION", "CGID", "ISERROR", "TEXT"),
)
PIECES = (
    *('pain, "sharp"\n', "temp 98.6\r\n", "[**Known lastname 123**] ", "\n\n", '""', "- - ----\n"),
    *("the patient was admitted with ", "left lower lobe, ", "hct 30.1 ", "\n\n,\n", "isn't "),
)


def main(arguments: list[str]) -> None:
    gigabytes = float(arguments[0]) if arguments else 1.0
    folder = Path(tempfile.mkdtemp(dir=arguments[1] if len(arguments) > 1 else None))
    try:
        wanted = _write(folder, int(gigabytes * 1e9))
        print(json.dumps(measured := _read(folder, wanted), indent=1))
    finally:
        shutil.rmtree(folder)
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    (results / "mimic_stream.json").write_text(json.dumps(measured, indent=1) + "\n")


def _write(folder: Path, size: int) -> int:
    """Both tables; returns the number of admissions that have a label and a summary."""
    draw = random.Random(0)
    # A few texts, written again and again: drawing all of them would take longer than reading.
    texts = ["".join(draw.choices(PIECES, k=draw.randint(100, 600))) for _ in range(500)]
    texts.append("".join(draw.choices(PIECES, k=30_000)))
    number = 0
    with (folder / NOTES).open("w", newline="", encoding="utf-8") as file:
        notes = csv.writer(file, lineterminator="\n")
        notes.writerow(HEADER)
        while file.tell() < size:
            for _ in range(1000):
                number += 1
                category = "Nursing" if number % 3 else "Discharge summary"
                text = texts[number % 500] if number % 5_000 else texts[-1]
                date = "2101-01-01"
                row = (number, 1, number, date, "", "", category, "Report", "", "", text)
                notes.writerow(row)
    with (folder / DIAGNOSES).open("w", newline="", encoding="utf-8") as file:
        diagnoses = csv.writer(file, lineterminator="\n")
        diagnoses.writerow(("ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"))
        codes = ("2851", "28521", "4019", "V4581")
        diagnoses.writerows((n, 1, n, 1, codes[n % 4]) for n in range(1, number + 1))
    return sum(n % 3 == 0 and n % 4 < 2 for n in range(1, number + 1))


def _read(folder: Path, wanted: int) -> dict[str, Any]:
    before = _peak()
    started = time.perf_counter()
    corpus = Mimic(folder, ["285.1"], ["285.21"], ["chronic", "acute"]).load()
    seconds = time.perf_counter() - started
    rows = len(corpus.splits["train"])
    if rows != wanted:
        raise SystemExit(f"read {rows} admissions, expected {wanted}")
    return {
        "gigabytes": round((folder / NOTES).stat().st_size / 1e9, 2),
        "admissions": rows,
        "seconds": round(seconds, 1),
        "peak_mb_before": before,
        "peak_mb": _peak(),
    }


def _peak() -> int:
    """Most memory that this process has held so far, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3))


if __name__ == "__main__":
    main(sys.argv[1:])
