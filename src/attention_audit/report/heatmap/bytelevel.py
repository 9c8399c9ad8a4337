"""Byte-level tokens: text as GPT-2's vocabulary writes it, each of its UTF-8 bytes as a character.

So a space is Ġ, a line break Ċ and é two characters (Radford et al. 2019).
"""

from __future__ import annotations

_KEPT = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)}
_OTHERS = [byte for byte in range(256) if byte not in _KEPT]
_CHARACTERS = {byte: chr(byte) for byte in _KEPT} | {
    byte: chr(256 + number) for number, byte in enumerate(_OTHERS)
}
_BYTES = {character: byte for byte, character in _CHARACTERS.items()}

SPACE = _CHARACTERS[ord(" ")]


def encoded(text: str) -> str:
    """The text's bytes as a vocabulary writes them."""
    return "".join(_CHARACTERS[byte] for byte in text.encode("utf-8", "surrogatepass"))


def decoded(token: str) -> str | None:
    """The text that a token stands for; None where it is none, or a part of a character."""
    if any(character not in _BYTES for character in token):
        return None
    try:
        return bytes(_BYTES[character] for character in token).decode("utf-8")
    except UnicodeDecodeError:
        return None


def may_be(token: str) -> bool:
    """Whether a token has no other characters than those for bytes."""
    return all(character in _BYTES for character in token)
