"""The report's folder: what is in it, and nothing of the store is markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from attention_audit.report.results import results
from attention_audit.report.site import write_site
from attention_audit.report.site.markup import size_class

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


@pytest.fixture
def written(store, tmp_path):
    """Writes the report of the store's cells."""

    def write():
        write_site(results(store), tmp_path / "report")
        return tmp_path / "report"

    return write


def elements(text):
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(text)
    return found


def data_of(folder, cell):
    text = (folder / "cells" / f"sst_lstm+additive_{cell.folder.name}.js").read_text()
    return json.loads(re.fullmatch(r"receive\((.*)\);\n", text, re.DOTALL)[1].partition(", ")[2])


def test_nothing_of_the_store_is_markup(written, begun):
    begun().set_failed(ValueError("plain"))
    plain = elements((written() / "index.html").read_text())
    begun().set_failed(ValueError(HOSTILE))
    folder = written()
    text = (folder / "index.html").read_text()
    assert "alert(1)" in text
    assert [name for name, _ in elements(text)] == [name for name, _ in plain]
    assert not any(key.startswith("on") for _, found in elements(text) for key in found)
    written_data = [*folder.glob("*/*.js")]
    assert len(written_data) == 3
    assert not any({"<", ">", "&"} & set(path.read_text()) for path in written_data)


def test_pages_may_run_and_read_only_what_is_in_their_folder(written, stored):
    stored()
    folder = written()
    found = elements((folder / "index.html").read_text())
    [policy] = [a["content"] for _, a in found if "http-equiv" in a]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    wanted = [a.get("src") or a["href"] for name, a in found if name in ("script", "link")]
    assert wanted == ["report.css", "load.js", "tables.js", "overview.js"]
    assert all((folder / name).is_file() for name in wanted)


def test_a_cells_file_has_its_numbers_beside_the_published_ones(written, stored, rows):
    cell = stored()
    cell.analysis("correlation", {}, 1).write({"summary": rows("tau_gradient", 0.5)})
    data = data_of(written(), cell)
    scores, correlation = data["numbers"]
    assert (scores["name"], correlation["name"]) == ("test scores", "correlation")
    assert [line[0] for line in scores["rows"]] == ["accuracy", "f1", "macro_f1"]
    [line] = correlation["rows"]
    assert line[:2] == ["tau_gradient", "Kendall's tau between attention and gradient"]
    assert line[2:8] == ["", "0.500", "[0.375, 0.625]", "0.250", "0.500", "40 (+2 undefined)"]
    assert line[8:] == ["0.351", "+0.149", "higher-3"]
    assert ["corpus", "files of sst"] in data["about"]


def test_the_verdict_is_the_stores(written, stored):
    cell = stored()
    finding = {"condition": "c", "sentence": "s.", "published": 0.5, "source": "somewhere"}
    cell.write_json("verdict", {"findings": [finding, {**finding, "published": None}]})
    said = data_of(written(), cell)["verdict"]
    assert [one["published"] for one in said] == ["0.500", ""]
    assert said[0]["sentence"] == "s."


def test_a_report_is_written_over_an_older_one_and_nothing_else(written, store, stored, tmp_path):
    cell = stored()
    stored("imdb")
    assert len([*(written() / "cells").iterdir()]) == 2
    cell.remove()
    assert len([*(written() / "cells").iterdir()]) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    with pytest.raises(ValueError, match="no report; expected a new or empty one"):
        write_site([], tmp_path / "mine")


def test_an_empty_store_has_a_report(written):
    assert "none yet" in (written() / "index.html").read_text()


@pytest.mark.parametrize(
    ("difference", "name"),
    [(None, ""), (0.0, "alike"), (0.03, "higher-1"), (-0.06, "lower-2"), (-0.5, "lower-3")],
)
def test_a_difference_is_coloured_by_its_size(difference, name):
    assert size_class(difference) == name


DAMAGED = [
    *("metrics.json", "manifest.json", "status.json", "instances.parquet"),
    *(f"{analysis}/summary.json" for analysis in ("correlation", "permutation", "adversarial")),
    *("adversarial/identity.json", "permutation/instances.parquet"),
]


@pytest.mark.parametrize("content", [None, b"", b"\xff<script>", b'{"a": [null]}'])
@pytest.mark.parametrize("file", DAMAGED)
def test_whatever_file_is_damaged_the_report_is_written_and_says_it(
    written, audited, store, file, content
):
    audited("imdb")
    cell = audited()
    analysis, _, name = file.rpartition("/")
    one = next(one for one in results(store) if one.cell == cell)
    path = (one.analyses[analysis].folder if analysis else cell.folder) / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    folder = written()
    found = (folder / "cells" / f"{one.key}.js").read_text()
    if (drawn := folder / "plots" / f"{one.key}.js").exists():
        found += drawn.read_text()
    assert name in found or (name, content, "unfinished" in found) == ("status.json", None, True)
    assert str(cell.folder) not in found


def test_a_place_that_cannot_be_written_to_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        ValueError, match=r"--out .*report: found no folder to write to \(Not a dir"
    ):
        write_site([], tmp_path / "file" / "report")
