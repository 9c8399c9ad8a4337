"""A document's text to its tokens."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Literal

Tokeniser = Callable[[str], list[str]]

# What readers put in the place of de-identified passages; spaCy's rules would part it in three.
_WHOLE = "<de>"


def tokeniser(name: Literal["spacy", "whitespace"]) -> Tokeniser:
    """The function that splits a text into tokens, none of them empty or blank.

    `spacy` is the rule-based tokeniser of spaCy's blank English pipeline, applied to the text
    with each run of white space made one space, and with `<de>` a token of its own; `whitespace`
    is `str.split`.
    """
    return _spacy() if name == "spacy" else str.split


def release(name: Literal["spacy", "whitespace"]) -> str:
    """The version of the rules behind a tokeniser, found without loading it."""
    return f"{version('spacy')} {_WHOLE}" if name == "spacy" else "1"


def normaliser(lowercase: bool, digits: Literal["qqq", "keep"]) -> Callable[[str], str]:
    """The function that is applied to each token: lower case, `qqq` for a token with a digit."""

    def normalise(token: str) -> str:
        if digits == "qqq" and not token.isalpha() and any(map(str.isdigit, token)):
            return "qqq"
        return token.lower() if lowercase else token

    return normalise


def reader(tokenizer: Literal["spacy", "whitespace"], normalise: Callable[[str], str]) -> Tokeniser:
    """The function from a text to the tokens that a vocabulary is asked for."""
    split = tokeniser(tokenizer)
    return lambda text: [normalise(token) for token in split(text)]


def _spacy() -> Tokeniser:
    import spacy

    split = spacy.blank("en").tokenizer
    split.add_special_case(_WHOLE, [{"ORTH": _WHOLE}])
    return lambda text: [token.text for token in split(" ".join(text.split()))]
