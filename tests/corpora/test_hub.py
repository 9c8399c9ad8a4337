"""The hub through its real client, in processes of its own: it reads its variables at import."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import time
from hashlib import sha1
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attention_audit.corpora.hub import Hub

SST = {
    "path": "SetFit/sst2",
    "splits": {"train": "train", "dev": "validation", "test": "test"},
    "label_text_column": "label_text",
    "label_names": ["negative", "positive"],
    "classes": {"negative": "negative", "positive": "positive"},
    "cleaning": "treebank",
    "instead": "train.txt in data/sst",
}
IMDB = {
    "path": "stanfordnlp/imdb",
    "configuration": "plain_text",
    "splits": {"train": "train", "test": "test"},
    "label_names": ["neg", "pos"],
    "classes": {"neg": "negative", "pos": "positive"},
    "cleaning": "line_breaks",
}
PROGRAM = """
import json, sys
from attention_audit.corpora.hub import Hub

def report(parameters):
    source = Hub(**parameters)
    before = source.identity()
    try:
        corpus = source.load()
    except (ValueError, OSError) as error:
        return {"error": str(error), "type": type(error).__name__}
    return {
        "identity": before,
        "again": Hub(**parameters).identity(),
        "source": corpus.source,
        "classes": corpus.classes,
        "dropped": corpus.dropped,
        "splits": {name: rows.to_dict() for name, rows in corpus.splits.items()},
    }

print(json.dumps([report(parameters) for parameters in json.loads(sys.argv[1])]))
"""


def sst2(names: tuple[str, str] = ("negative", "positive")) -> dict[str, bytes]:
    texts = [("no movement , no yuks -lrb- not much -rrb-", 0), ("a gorgeous film .", 1)]
    lines = [json.dumps({"text": t, "label": n, "label_text": names[n]}) for t, n in texts]
    body = "\n".join(lines).encode()
    return {
        "train.jsonl": body,
        "dev.jsonl": body,
        "test.jsonl": body,
        "README.md": b"---\nlicense: mit\n---\n",
    }


def imdb(*splits: str, labels: tuple[int, ...] = (0, 1, 1)) -> dict[str, bytes]:
    listed = "".join(f"  - split: {s}\n    path: plain_text/{s}-*\n" for s in splits)
    card = (
        "---\nconfigs:\n- config_name: plain_text\n  data_files:\n" + listed + "dataset_info:\n"
        "  config_name: plain_text\n  features:\n  - name: text\n    dtype: string\n"
        "  - name: label\n    dtype:\n      class_label:\n        names:\n"
        "          '0': neg\n          '1': pos\n---\n"
    )
    texts = [f"review<br />{n}" for n in range(len(labels))]
    files = {"README.md": card.encode()}
    for split in splits:
        values = [-1] * len(labels) if split == "unsupervised" else list(labels)
        buffer = io.BytesIO()
        pq.write_table(pa.table({"text": texts, "label": pa.array(values, pa.int64())}), buffer)
        files[f"plain_text/{split}-00000-of-00001.parquet"] = buffer.getvalue()
    return files


def load(home: Path, endpoint: str, parameters: dict[str, Any], **more: str) -> dict[str, Any]:
    (report,), errors = load_all(home, endpoint, [parameters], **more)
    return report | {"stderr": errors}


def load_all(
    home: Path, endpoint: str, cases: list[dict[str, Any]], program: str = PROGRAM, **more: str
) -> tuple[list[dict[str, Any]], str]:
    settings = {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1"}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(cases)],
        env=inherited | settings | more,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture
def nobody() -> str:
    """An endpoint where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_sst2_is_read_cached_and_keeps_its_identity(hub: Any, nobody: str, tmp_path: Path) -> None:
    hub.repositories["SetFit/sst2"] = sst2()
    commit = hub.commit("SetFit/sst2")
    first = load(tmp_path, hub.endpoint, SST)
    assert first["source"] == f"hub SetFit/sst2@{commit}"
    assert first["splits"]["dev"] == {
        "uid": ["dev-0", "dev-1"],
        "text": ["no movement no yuks not much", "a gorgeous film"],
        "label": [0, 1],
    }
    assert first["identity"] == first["again"]
    assert first["identity"]["revision"] == commit
    assert first["stderr"] == ""

    hub.repositories["SetFit/sst2"]["README.md"] = b"---\nlicense: other\n---\n"
    offline = load(tmp_path, hub.endpoint, SST, HF_HUB_OFFLINE="1")
    cases = [SST, SST | {"revision": "0" * 40}]
    imported_before = f"import datasets\n{PROGRAM}\nassert not datasets.config.HF_HUB_OFFLINE"
    (unreachable, other), errors = load_all(tmp_path, nobody, cases, imported_before)
    for later in (offline, unreachable):
        assert later["splits"] == first["splits"]
        assert later["identity"] == first["identity"]
    assert f"{nobody} does not answer" in errors
    assert f"read commit {commit}, expected {'0' * 40}" in other["error"]


def test_imdb_has_its_labels_as_a_type_and_a_split_that_we_leave(hub: Any, tmp_path: Path) -> None:
    hub.repositories["stanfordnlp/imdb"] = imdb("train", "test", "unsupervised")
    corpus = load(tmp_path, hub.endpoint, IMDB)
    assert sorted(corpus["splits"]) == ["test", "train"]
    assert corpus["splits"]["train"]["text"] == ["review 0", "review 1", "review 2"]
    assert corpus["splits"]["train"]["label"] == [0, 1, 1]
    assert corpus["classes"] == ["negative", "positive"]
    assert corpus["dropped"] == {"train": {}, "test": {}}


def test_what_moved_is_refused_with_one_line(hub: Any, tmp_path: Path) -> None:
    hub.repositories["SetFit/sst2"] = sst2(("positive", "negative"))
    hub.repositories["stanfordnlp/imdb"] = imdb("train", "unsupervised")
    hub.repositories["stanfordnlp/empty"] = {"README.md": b"nothing here yet"}
    cases = [
        (SST, "found the labels 'positive', 'negative', expected 'negative', 'positive'"),
        (IMDB, "found the splits 'train', 'unsupervised', expected 'test' too"),
        (IMDB | {"splits": {"train": "unsupervised"}}, "the train split has no labelled row"),
        (IMDB | {"splits": {"train": "train"}, "text_column": "body"}, "column 'body' is missing"),
        (IMDB | {"configuration": "raw"}, "raw"),
        (IMDB | {"path": "stanfordnlp/gone"}, "stanfordnlp/gone"),
        (SST | {"revision": "v9"}, "v9"),
        (
            SST | {"label_text_column": "name"},
            "found the columns 'text', 'label', 'label_text', exp",
        ),
        (IMDB | {"splits": {"train": "train"}, "classes": {"neg": "n", "good": "p"}}, "'good' too"),
        (IMDB | {"path": "stanfordnlp/empty"}, "doesn't contain any data files"),
    ]
    reports, errors = load_all(tmp_path, hub.endpoint, [parameters for parameters, _ in cases])
    assert errors == ""
    for (_, expected), refused in zip(cases, reports, strict=True):
        assert expected in refused["error"]
        assert refused["type"] == "ValueError"
        assert "\n" not in refused["error"]


def test_unreachable_and_nothing_cached(nobody: str, tmp_path: Path) -> None:
    start = time.monotonic()
    refused = load(tmp_path, nobody, SST)
    assert time.monotonic() - start < 20  # the client alone retries for longer
    assert refused["type"] == "HubUnreachable"
    assert f"{nobody} does not answer" in refused["error"]
    assert "or put train.txt in data/sst" in refused["error"]
    offline = load(tmp_path, nobody, SST, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in offline["error"]


def test_a_hub_out_of_reach_is_a_source_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, nobody: str, hub: Any
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", nobody)
    source = Hub(**SST)
    assert f"the hub's SetFit/sst2 ({nobody} does not answer, and" in str(source.missing())
    assert source.files() == []
    assert not source.cached()
    assert Hub(**SST, timeout=None).missing() is None
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    assert Hub(**SST).missing() is None
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE is set" in str(Hub(**SST).missing())


def test_a_user_behind_a_slow_proxy_can_leave_the_probe_out(hub: Any, tmp_path: Path) -> None:
    hub.repositories["SetFit/sst2"] = sst2()
    answer = hub.answer

    def slowly(path: str, asked: bytes) -> Any:
        time.sleep(0.2)
        return answer(path, asked)

    hub.answer = slowly
    refused = load(tmp_path, hub.endpoint, SST | {"timeout": 0.1})
    assert "does not answer" in refused["error"]
    assert load(tmp_path, hub.endpoint, SST | {"timeout": None})["classes"] == SST["label_names"]


def test_a_proxy_that_blocks_the_hub_is_told_in_time(hub: Any, tmp_path: Path) -> None:
    hub.answer = lambda path, asked: (403, b"blocked", {})
    start = time.monotonic()
    refused = load(tmp_path, hub.endpoint, SST)
    assert time.monotonic() - start < 20  # the client alone retries for longer
    assert f"{hub.endpoint} answers with HTTP 403" in refused["error"]


def test_a_repository_has_to_be_named() -> None:
    assert "dataset.path=OWNER/NAME" in str(Hub(None).missing())
    assert Hub(None).identity()["revision"] == "main"
    with pytest.raises(ValueError, match=r"splits: found 'training', expected train, and dev"):
        Hub("some/reviews", splits={"training": "train"})


def tables(splits: dict[str, list[dict[str, Any]]], **names: list[str]) -> dict[str, bytes]:
    """A repository of one Parquet file a split; `names` are the labels' by column."""
    classes = "".join(
        f"  - name: {column}\n    dtype:\n      class_label:\n        names:\n"
        + "".join(f"          '{n}': {name}\n" for n, name in enumerate(of))
        for column, of in names.items()
    )
    others = [name for name in next(iter(splits.values()))[0] if name not in names]
    texts = "".join(f"  - name: {name}\n    dtype: string\n" for name in others)
    listed = "".join(f"  - split: {s}\n    path: data/{s}.parquet\n" for s in splits)
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n" + listed
    if names:
        card += f"dataset_info:\n  features:\n{texts}{classes}"
    files = {"README.md": (card + "---\n").encode()}
    for split, rows in splits.items():
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        files[f"data/{split}.parquet"] = buffer.getvalue()
    return files


def shapes(hub: Any) -> None:
    """Repositories in the shapes of those that the datasets' YAMLs name."""
    relations = ["entailment", "neutral", "contradiction"]
    pairs = [{"premise": "a", "hypothesis": f"h{n}", "label": n} for n in (0, 1, 2, -1)]
    topics = ["World", "Sports", "Business", "Sci/Tech"]
    news = [{"text": f"title {n} description", "label": n} for n in (2, 0, 1, 3)]
    groups = [(9, "rec.sport.baseball"), (10, "rec.sport.hockey"), (0, "alt.atheism")]
    posts = [{"text": f"post!! {n}", "label": n, "label_text": name} for n, name in groups]
    effects = [{"text": f"rash {n % 4}", "label": n % 2} for n in range(5)]
    hub.repositories |= {
        "stanfordnlp/snli": tables(
            dict.fromkeys(("train", "validation", "test"), pairs), label=relations
        ),
        "fancyzhx/ag_news": tables({"train": news, "test": news}, label=topics),
        "SetFit/20_newsgroups": tables({"train": posts, "test": posts[:2]}),
        "ade-benchmark-corpus/ade_corpus_v2": tables(
            {"train": effects}, label=["Not-Related", "Related"]
        ),
    }


SNLI = {
    "path": "stanfordnlp/snli",
    "splits": {"train": "train", "dev": "validation", "test": "test"},
    "task": "nli",
    "label_names": ["entailment", "neutral", "contradiction"],
    "classes": ["neutral", "contradiction", "entailment"],
}
NEWS = {
    "path": "fancyzhx/ag_news",
    "label_names": ["World", "Sports", "Business", "Sci/Tech"],
    "classes": {"World": "world", "Business": "business"},
    "differs": "other texts",
}
POSTS = {
    "path": "SetFit/20_newsgroups",
    "splits": {"train": ["train", "test"]},
    "label_text_column": "label_text",
    "classes": {"rec.sport.baseball": "baseball", "rec.sport.hockey": "hockey"},
    "cleaning": "words_only",
}
ADE = {
    "path": "ade-benchmark-corpus/ade_corpus_v2",
    "label_names": ["Not-Related", "Related"],
    "classes": {"Not-Related": "not related", "Related": "related"},
    "distinct": True,
}


def test_every_shape_of_repository_is_read(hub: Any, tmp_path: Path) -> None:
    shapes(hub)
    (snli, news, posts, ade), _ = load_all(tmp_path, hub.endpoint, [SNLI, NEWS, POSTS, ADE])
    # The papers number the relations in another order than the repository.
    assert snli["splits"]["test"]["label"] == [2, 0, 1]
    assert snli["splits"]["test"]["query"] == ["h0", "h1", "h2"]
    assert snli["dropped"]["dev"] == {"unlabelled": 1}
    assert news["classes"] == ["world", "business"]
    assert news["splits"]["train"]["label"] == [1, 0]
    assert news["dropped"]["test"] == {"other class": 2}
    assert posts["splits"] == {
        "train": {
            "uid": ["train-0", "train-1", "test-0", "test-1"],
            "text": ["post 9", "post 10"] * 2,
            "label": [0, 1] * 2,
        }
    }
    assert posts["dropped"] == {"train": {"other class": 1}}
    assert ade["splits"]["train"]["label"] == [0, 1, 0, 1]
    assert ade["dropped"] == {"train": {"duplicate": 1}}


def test_without_settings_splits_and_classes_are_the_repositorys(hub: Any, tmp_path: Path) -> None:
    shapes(hub)
    questions = [{"passage": "a b", "question": "c", "answer": "b", "candidates": ["a", "b"]}]
    hub.repositories["some/questions"] = tables({"train": questions, "valid": questions})
    cases = [
        {"path": "stanfordnlp/snli", "task": "nli"},
        {"path": "some/questions", "task": "qa"},
    ]
    (snli, asked), _ = load_all(tmp_path, hub.endpoint, cases)
    assert snli["classes"] == ["entailment", "neutral", "contradiction"]
    assert sorted(snli["splits"]) == ["dev", "test", "train"]
    assert sorted(asked["splits"]) == ["dev", "train"]
    assert asked["splits"]["dev"]["candidates"] == [["a", "b"]]


def test_a_test_split_without_labels_is_refused_and_those_with_labels_named(
    hub: Any, tmp_path: Path
) -> None:
    rows = [{"sentence": f"s{n}", "label": n % 2} for n in range(4)]
    hidden = [row | {"label": -1} for row in rows]
    glue = {"train": rows, "validation": rows, "test": hidden}
    hub.repositories["nyu-mll/glue"] = tables(glue, label=["negative", "positive"])
    case = {"path": "nyu-mll/glue", "text_column": "sentence"}
    refused = load(tmp_path, hub.endpoint, case)
    assert "the test split has no labelled row" in refused["error"]
    assert refused["error"].endswith("splits with labels: train, dev")


def test_a_repository_of_a_script_is_refused_with_what_to_do(hub: Any, tmp_path: Path) -> None:
    hub.repositories["some/script"] = {
        "script.py": b"raise SystemExit('a script was run')",
        "README.md": b"---\nlicense: mit\n---\n",
    }
    refused = load(tmp_path, hub.endpoint, {"path": "some/script", "instead": "a.csv in data"})
    assert "a script of its own, which is never run" in refused["error"]
    assert "put a.csv in data, or set revision=refs/convert/parquet" in refused["error"]
    assert "a script was run" not in refused["stderr"]


def converted(hub: Any, name: str, *configurations: str) -> None:
    """The hub's own tables of a script's corpus: a folder a configuration, and no README."""
    answer, files = hub.answer, {}
    for configuration in configurations:
        rows = [{"text": f"{configuration} {n}", "label": n % 2} for n in range(4)]
        for path, content in tables({"train": rows, "test": rows}).items():
            if path.endswith(".parquet"):
                files[f"{configuration}/{Path(path).stem}/0000.parquet"] = content

    def with_folders_in_folders(path: str, asked: bytes) -> Any:
        path = path.replace("refs%2Fconvert%2Fparquet", "main")
        if "/tree/" not in path:
            return answer(path, asked)
        inside = path.partition("?")[0].partition("/tree/")[2].partition("/")[2]
        found = {f: content for f, content in files.items() if f.startswith(inside)}
        folders = {str(above) for f in found for above in Path(f).parents} - {".", inside}
        entries = [{"type": "directory", "path": f, "oid": "0" * 40} for f in sorted(folders)]
        entries += [
            {"type": "file", "path": f, "size": len(content), "oid": sha1(content).hexdigest()}
            for f, content in found.items()
        ]
        return 200, json.dumps(entries).encode(), {}

    hub.repositories[name] = files
    hub.answer = with_folders_in_folders


def test_converted_tables_of_several_configurations_are_never_mixed(
    hub: Any, tmp_path: Path
) -> None:
    converted(hub, "some/reviews", "films", "books")
    case = {"path": "some/reviews", "revision": "refs/convert/parquet"}
    mixed, films, books, other = load_all(
        tmp_path,
        hub.endpoint,
        [case, *(case | {"configuration": name} for name in ("films", "books", "songs"))],
    )[0]
    assert "found the configurations 'books', 'films', whose rows would be mixed" in mixed["error"]
    assert films["splits"]["test"]["text"] == [f"films {n}" for n in range(4)]
    assert books["splits"]["test"]["text"] == [f"books {n}" for n in range(4)]
    assert "songs" in other["error"]


def test_a_repository_without_a_readme_keeps_its_identity(
    hub: Any, nobody: str, tmp_path: Path
) -> None:
    converted(hub, "some/reviews", "default")
    case = {"path": "some/reviews", "revision": "refs/convert/parquet"}
    first = load(tmp_path, hub.endpoint, case)
    assert first["identity"]["revision"] == hub.commit("some/reviews")
    later = load(tmp_path, nobody, case)
    assert later["identity"] == first["identity"] == first["again"]
    assert later["splits"] == first["splits"]


def test_classes_go_by_their_numbers_where_their_names_are_a_column(
    hub: Any, tmp_path: Path
) -> None:
    rows = [{"text": f"t{n}", "label": n, "label_text": "abc"[n]} for n in (2, 0, 1)]
    hidden = [{"text": "t", "label": -1, "label_text": "unlabeled"}]
    hub.repositories["some/names"] = tables({"train": rows, "test": rows + hidden})
    case = {"path": "some/names", "label_text_column": "label_text"}
    corpus = load(tmp_path, hub.endpoint, case)
    assert corpus["classes"] == ["a", "b", "c"]
    assert corpus["splits"]["train"]["label"] == [2, 0, 1]
    assert corpus["dropped"]["test"] == {"unlabelled": 1}
