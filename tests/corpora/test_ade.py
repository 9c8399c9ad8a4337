from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate

from attention_audit.corpora import choose
from attention_audit.corpora.ade import AdeFiles
from attention_audit.corpora.hub import Hub

RELATIONS = """\
11|A rash after drugone and drugtwo.|rash|2|6|drugone|13|20
11|A rash after drugone and drugtwo.|rash|2|6|drugtwo|25|32
12|A ratio of a|b fell with drugone.|fell|20|24|drugone|30|37

13|A rash after drugone and drugtwo.|rash|2|6|drugone|13|20
"""
SENTENCES = """\
21 NEG "Nothing" was seen, NEG or not.
22 NEG Nothing else.
22 NEG Nothing else.
23 NEG A rash after drugone and drugtwo.
24 NEG
"""


def write(folder: Path, relations: str = RELATIONS, sentences: str = SENTENCES) -> AdeFiles:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "DRUG-AE.rel").write_bytes(relations.encode())
    (folder / "ADE-NEG.txt").write_bytes(sentences.encode())
    return AdeFiles(folder)


def test_each_sentence_is_one_row_and_the_rest_is_counted(tmp_path: Path) -> None:
    source = write(tmp_path)
    corpus = source.load()
    assert corpus.splits["train"].to_dict() == {
        "uid": ["ADE-NEG-1", "ADE-NEG-2", "ADE-NEG-5", "DRUG-AE-1", "DRUG-AE-3"],
        "text": [
            '"Nothing" was seen, NEG or not.',
            "Nothing else.",
            "",
            "A rash after drugone and drugtwo.",
            "A ratio of a|b fell with drugone.",
        ],
        "label": [0, 0, 0, 1, 1],
    }
    assert corpus.dropped == {"train": {"duplicate": 2, "also positive": 1}}
    assert corpus.classes == ("not related", "related")
    assert corpus.source == "ADE corpus files (3 and 2 sentences)"
    assert "substitute" in corpus.differs
    assert [path.name for path in source.files()] == ["DRUG-AE.rel", "ADE-NEG.txt"]
    assert str(tmp_path) not in str(source.identity())


def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    plain = write(tmp_path / "unix").load().splits["train"].to_dict()
    ends = [text.replace("\n", "\r\n") for text in (RELATIONS, SENTENCES)]
    assert write(tmp_path / "windows", *ends).load().splits["train"].to_dict() == plain


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"relations": "11|A rash|rash|2|6|drug|13\n"}, r"DRUG-AE\.rel: line 1 .* found '11\|A ra"),
        ({"sentences": SENTENCES + "25 POS Some\n"}, r"ADE-NEG\.txt: line 6 .* 'ID NEG sentence'"),
        ({"sentences": "x NEG Some\n"}, r"ADE-NEG\.txt: line 1 .* found 'x NEG Some'"),
    ],
)
def test_a_line_of_another_form_is_named(
    files: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        write(tmp_path, **files).load()


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    source = write(tmp_path)
    (tmp_path / "ADE-NEG.txt").write_bytes(b"21 NEG ok\n22 NEG na\xefve\n")
    with pytest.raises(ValueError, match=r"ADE-NEG\.txt: not UTF-8: line 2, byte 10 is 0xef"):
        source.load()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    source = write(tmp_path)
    assert source.missing() is None
    (tmp_path / "ADE-NEG.txt").unlink()
    assert source.missing() == f"the ADE corpus's ADE-NEG.txt in {tmp_path}"


def test_the_dataset_prefers_files_to_the_hub(
    composed: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    listed = composed("dataset=ade")["dataset"]["sources"]
    sources = [instantiate(source, _convert_="all") for source in listed]
    assert isinstance(sources[-1], Hub)
    source = write(tmp_path / "data" / "ade_corpus_v2")
    assert choose(sources) is sources[0]
    assert listed[1]["differs"] == source.load().differs


def test_the_real_files(data: Path) -> None:
    corpus = AdeFiles(data / "ade_corpus_v2").load()
    train = corpus.splits["train"]
    assert Counter(train["label"]) == {0: 16_625, 1: 4_271}
    assert len(set(train["text"])) == len(train)
    # 16,695 lines, and 4,272 sentences of the 6,821 relations, without those that come again.
    assert corpus.dropped == {"train": {"duplicate": 71}}
