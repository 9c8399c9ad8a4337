from __future__ import annotations

import pytest

from attention_audit.corpora.cleaning import clean


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("It 's co-writer\\/director J.R.R. -- `` er ''", "it s co writer director j r r er"),
        ("films -LRB- or not -RRB- , and -lrb- so -rrb-", "films or not and so"),
        ("You 're gonna love this", "you re gon na love this"),
        ("over a 28K modem in the 1950s , 3D", "over a 28 k modem in the 1950s 3d"),
        ("2\u00a01\\/2-hour cliché", "2 1 2 hour cliché"),
        ("... *** _", ""),
    ],
)
def test_treebank(raw: str, cleaned: str) -> None:
    assert clean(raw, "treebank") == cleaned


def test_line_breaks_become_spaces() -> None:
    assert clean("one<br /><br/>two<BR>three < four", "line_breaks") == "one  two three < four"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("It's  2-1,\n\tJos\xe9 -- (a_b)!", "It s 2 1 José a_b"),
        ("\xa0... *** \x85", ""),
        ("___", "___"),
    ],
)
def test_words_only(raw: str, words: str) -> None:
    assert clean(raw, "words_only") == words


def test_none_keeps_the_text() -> None:
    assert clean("a <br /> B", "none") == "a <br /> B"
