"""Every corpus as its users have it: tiny files in their true formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest

RIGHT, WRONG = ("fine", "good", "bright"), ("dull", "bad", "slow")


def sentence(number: int, label: int, words: int = 9) -> str:
    """A sentence of about so many words, no two alike, that shows its label."""
    random = Random(10 * number + label)
    filler = ["the", "a", "of", "it", "was", "and", "that", "so", "in", "there", "film", "year"]
    chosen = [random.choice(filler) for _ in range(words + number % 3)]
    chosen[number % words] = (WRONG, RIGHT)[label][number % 3]
    return " ".join(chosen)


def twenty_newsgroups(folder: Path) -> None:
    for split, group, number in product(("train", "test"), ("baseball", "hockey"), range(20)):
        place = folder / "20news" / f"20news-bydate-{split}" / f"rec.sport.{group}"
        place.mkdir(parents=True, exist_ok=True)
        text = sentence(number, int(group == "hockey"))
        body = f"> what a {group} fan said\n{text}, caf\xe9!!!\n\n--\nA Fan, somewhere\n"
        post = f"From: fan@example.com (A Fan)\nSubject: Re: {group}\nLines: 3\n\n{body}"
        (place / str(50_000 + number)).write_bytes(post.encode("latin-1"))


def agnews(folder: Path) -> None:
    (folder / "agnews").mkdir()
    for split, rows in {"train": 120, "test": 60}.items():
        lines = [
            f'"{n % 4 + 1}","A ""title"", {n}","{sentence(n, int(n % 4 == 2))}, said #36;{n}."'
            for n in range(rows)
        ]
        (folder / "agnews" / f"{split}.csv").write_text("\n".join(lines) + "\n")


def adr(folder: Path) -> None:
    (folder / "adr").mkdir()
    rows = [
        f'"@user {sentence(n, n % 2)}, ""no"" {n}",{n % 2},{split}'
        for split, rows in {"train": 40, "dev": 16, "test": 16}.items()
        for n in range(rows)
    ]
    (folder / "adr" / "adr_dataset.csv").write_text("text,label,exp_split\n" + "\n".join(rows))


def ade(folder: Path) -> None:
    (folder / "ade_corpus_v2").mkdir()
    harmed = [f"{n}|{sentence(n, 1)} rash {n}.|rash|1|5|drug|7|11" for n in range(40)]
    (folder / "ade_corpus_v2" / "DRUG-AE.rel").write_text("\n".join([*harmed, harmed[0]]) + "\n")
    others = [f"{n} NEG {sentence(n, 0)} {n}." for n in range(60)]
    (folder / "ade_corpus_v2" / "ADE-NEG.txt").write_text("\n".join(others) + "\n")


NOTES = (
    *("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME", "CATEGORY"),
    *("DESCRIPTION", "CGID", "ISERROR", "TEXT"),
)


def mimic(folder: Path) -> None:
    folder = folder / "mimic"
    folder.mkdir()
    admissions = range(100_000, 100_120)
    notes = [
        f'{row},1,{row},2101-01-0{row % 9 + 1},,,"Discharge summary","Report",,,'
        f'"Admission Date:  [**2101-1-2**]\n\nHe ""felt"" {sentence(row, row % 2, 12)}, {row}.\n"'
        for row in admissions
    ]
    table = ",".join(f'"{name}"' for name in NOTES) + "\n" + "\n".join(notes) + "\n"
    with gzip.open(folder / "NOTEEVENTS.csv.gz", "wt", encoding="utf-8") as file:
        file.write(table)
    codes = [f'{n},1,{n},1,"{("28521", "2851")[n % 2]}"' for n in admissions]
    codes += [f'{n},1,{n},2,"25000"' for n in admissions if n % 2]
    header = '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n'
    (folder / "DIAGNOSES_ICD.csv").write_text(header + "\n".join(codes) + "\n")
    for split, ids in {
        "train": admissions[:70],
        "dev": admissions[70:95],
        "test": admissions[95:],
    }.items():
        (folder / f"{split}_50_hadm_ids.csv").write_text("\n".join(map(str, ids)) + "\n")


def cnn(folder: Path) -> None:
    (folder / "cnn").mkdir()
    for split, rows in {"train": 60, "dev": 20, "test": 20}.items():
        blocks = [
            f"@placeholder {sentence(n, 1, 5)}\n@entity{n % 3}\n"
            f"( @entity{n % 3} ) -- {sentence(n, 0)} , @entity{(n + 1) % 3} said to @entity7 .\n"
            for n in range(rows)
        ]
        (folder / "cnn" / f"{split}.txt").write_text("\n".join(blocks))


def babi(folder: Path) -> None:
    place = folder / "babi" / "tasks_1-20_v1-2" / "en-10k"
    place.mkdir(parents=True)
    names = {
        1: "single-supporting-fact",
        2: "two-supporting-facts",
        3: "three-supporting-facts",
    }
    for (task, name), (split, stories) in product(names.items(), {"train": 60, "test": 20}.items()):
        lines = [line for number in range(stories) for line in story(task, number)]
        (place / f"qa{task}_{name}_{split}.txt").write_text("\n".join(lines) + "\n")


def story(task: int, number: int) -> Iterator[str]:
    place, other = Random(number).sample(["kitchen", "garden", "office", "hallway"], 2)
    yield f"1 Mary moved to the {place}."
    if task == 1:
        yield f"2 John went to the {other}."
        yield f"3 Where is Mary? \t{place}\t1"
    elif task == 2:
        yield "2 Mary got the milk there."
        yield f"3 Mary travelled to the {other}."
        yield f"4 Where is the milk? \t{other}\t2 3"
    else:
        yield "2 Mary picked up the milk."
        yield f"3 Mary went back to the {other}."
        yield f"4 Where was the milk before the {other}? \t{place}\t2 3 1"


def snli(folder: Path) -> None:
    place = folder / "snli" / "snli_1.0"
    place.mkdir(parents=True)
    relations = ("entailment", "neutral", "contradiction", "-")
    for split, rows in {"train": 80, "dev": 24, "test": 24}.items():
        lines = [
            {
                "annotator_labels": [relations[n % 4]],
                "gold_label": relations[n % 4],
                "sentence1": f'{sentence(n, 1)}, said "{n}".',
                "sentence2": sentence(n % 4, 0, 5),
                "pairID": f"{n}r1",
            }
            for n in range(rows)
        ]
        text = "\n".join(map(json.dumps, lines)) + "\n"
        (place / f"snli_1.0_{split}.jsonl").write_text(text)


WRITERS: Iterable[Callable[[Path], None]] = (
    twenty_newsgroups,
    agnews,
    adr,
    ade,
    mimic,
    cnn,
    babi,
    snli,
)


@pytest.fixture
def corpora(corpora: Path) -> Path:
    """The folder `data` with every corpus that has files, and `table.csv` beside it."""
    for write in WRITERS:
        write(corpora)
    return corpora
