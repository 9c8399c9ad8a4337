"""What a label means: its class, or why its row is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Label = str | int | float | bool
Classes = Sequence[Label] | Mapping[Label, str]


@dataclass(frozen=True)
class Scheme:
    """How labels, written as texts, become classes.

    names: label -> class name, in class order; None until the train rows' labels are known.
    ignored: labels of classes that the corpus does not use.
    unlabelled: labels that say that there is none; a blank always does.
    """

    names: Mapping[str, str] | None
    ignored: frozenset[str] = frozenset()
    unlabelled: frozenset[str] = frozenset()
    _index: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index = {label: number for number, label in enumerate(self.names or ())}
        object.__setattr__(self, "_index", index)

    @classmethod
    def of(
        cls,
        classes: Classes | None,
        ignored: Iterable[Label] = (),
        unlabelled: Iterable[Label] = (),
    ) -> Scheme:
        """From what a YAML says; ValueError for classes that are alike, or fewer than two."""
        others = (frozenset(map(str, ignored)), frozenset(map(str, unlabelled)))
        return cls(None if classes is None else class_names(classes), *others)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return tuple((self.names or {}).values())

    def settled(self, labels: Iterable[str], where: str) -> Scheme:
        """With the classes found among `labels`, those of the train rows, if none were given.

        They are sorted: by value where all are numbers, else by text. Raises ValueError unless two
        of the scheme's classes occur; `where` names the column.
        """
        used = [label for label in labels if label not in self.ignored | self.unlabelled]
        names = self.names or _distinct(used)
        if len(set(used) & set(names)) < 2:
            expected = f"expected {some(names)}, " if self.names else ""
            raise ValueError(
                f"{where} must hold two or more classes in the train rows: {expected}"
                f"found {counted(labels)}"
            )
        return Scheme(names, self.ignored, self.unlabelled)

    def of_label(self, label: str) -> int | str:
        """The class's number, or the reason why a row of this label is dropped."""
        if label in self._index:
            return self._index[label]
        if not label or label in self.unlabelled:
            return "unlabelled"
        return "other class" if label in self.ignored else "unknown label"


def written(value: Any) -> str:
    """A label as text: a whole number without its point, a truth value as true or false."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def class_names(classes: Classes) -> dict[str, str]:
    """Label as written -> class name, in class order; ValueError for alike or fewer than two."""
    pairs = classes.items() if isinstance(classes, Mapping) else [(c, str(c)) for c in classes]
    names = {str(label): str(name) for label, name in pairs}
    if any(isinstance(label, bool) for label, _ in pairs):
        raise ValueError(
            "classes: YAML reads a bare yes, no, true or false as a truth value, not as the text "
            "in the file; put quotes around it"
        )
    if len(names) < 2 or len(set(names.values())) < len(pairs):
        raise ValueError(f"classes: found {some(names)}, expected two or more different ones")
    return names


def _distinct(labels: Iterable[str]) -> dict[str, str]:
    found = set(labels) - {""}
    if found and all(map(_is_number, found)):
        return {label: label for label in sorted(found, key=lambda label: (float(label), label))}
    return {label: label for label in sorted(found)}


def _is_number(label: str) -> bool:
    try:
        return float(label) == float(label)  # "nan" is a text, not a number to sort by
    except ValueError:
        return False


def some(values: Iterable[str], most: int = 12) -> str:
    """A few of the values, as one line can hold."""
    shown = [f"{value!r}" for value in values]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def counted(values: Iterable[str], most: int = 12) -> str:
    """The commonest values with their numbers of rows."""
    common = Counter(values).most_common()
    shown = ", ".join(f"{value!r} ({rows} rows)" for value, rows in common[:most])
    return shown + (f" and {len(common) - most} more" if len(common) > most else "")
