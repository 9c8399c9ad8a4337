"""A text from elsewhere is brought into the form of a source's own, which stay as they are."""

from __future__ import annotations

import pytest

from attention_audit.corpora.babi import BabiFiles
from attention_audit.corpora.corpus import Cleans
from attention_audit.corpora.files import Files
from attention_audit.corpora.folders import LabelledFolders
from attention_audit.corpora.hub import Hub
from attention_audit.corpora.mimic import Mimic
from attention_audit.corpora.newsgroups import Newsgroups
from attention_audit.corpora.planted import Planted
from attention_audit.corpora.simulator import Simulator
from attention_audit.corpora.treebank import Treebank

TYPED = "It's gonna be\na 28K film -- NOT <br /> so ----- bad!"
STORY = " Mary moved to the kitchen.  John went\tto the hall. "


@pytest.mark.parametrize(
    ("source", "typed", "words"),
    [
        (Treebank("x"), TYPED, "it s gon na be a 28 k film not br so bad"),
        (Files("x.csv"), TYPED, "It's gonna be a 28K film -- NOT <br /> so ----- bad!"),
        (Files("x.csv", cleaning="line_breaks"), TYPED, TYPED.replace("<br />", " ")),
        (Hub("a/b", cleaning="words_only"), TYPED, "It s gonna be a 28K film NOT br so bad"),
        (Hub(None), TYPED, TYPED),
        (LabelledFolders("x", {}, {}, "line_breaks"), TYPED, TYPED.replace("<br />", " ")),
        (Newsgroups("x", {}), TYPED, "It s gonna be a 28K film NOT br so bad"),
        (
            Mimic("x", ["1"], ["2"], ["a", "b"]),
            "Seen [**2101-1-2**] ------ well",
            "Seen <de> - well",
        ),
        (BabiFiles(None, 1), STORY, "Mary moved to the kitchen . John went to the hall"),
        (Simulator(), "Where is Mary? ", "Where is Mary"),
        (Simulator(), " . ? ", ""),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_typed_text(source, typed, words):
    assert isinstance(source, Cleans)
    once = source.cleaned(typed)
    assert once.split() == words.split()
    assert source.cleaned(once) == once


def test_a_source_whose_texts_are_its_files_says_nothing_of_them():
    assert not isinstance(Planted(), Cleans)


def test_the_treebanks_own_texts_stay(corpora):
    source = Treebank(corpora / "sst")
    texts = source.load().splits["test"]["text"]
    assert [source.cleaned(text) for text in texts] == list(texts)


def test_simulated_stories_and_questions_stay():
    source = Simulator(task=2, train=20, test=20)
    rows = source.load().splits["test"]
    for name in ("text", "query"):
        assert [source.cleaned(text) for text in rows[name]] == list(rows[name])
