"""The numbers of one sentence are those of the analyses, whatever the task."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_audit.cell import restore
from attention_audit.explain import Asked, ask, examine, measure, recall

PAPER = "analysis=[correlation,permutation,adversarial]"


def value(found, name):
    return next(one.value for one in found.quantities if one.name == name)


def row(table, number):
    return {name: column[number] for name, column in table.to_pydict().items()}


@pytest.mark.parametrize("encoder", ["average", "lstm"])
def test_of_a_test_document_they_are_the_stored_ones(classified, encoder):
    cell = classified(PAPER, f"encoder={encoder}", "budget={permutations: 20, steps: 30}")
    stored = {one.name: one for one in cell.analyses()}
    taken = {name: one.read_instances() for name, one in stored.items()}
    importance, other = (stored[n].read_tokens() for n in ("correlation", "adversarial"))
    texts, predictions = cell.read_table("tokens"), cell.read_table("instances")
    restored = restore(cell.config, cell)
    for number in range(4):
        text = row(texts, number)
        question = recall(cell.config, cell, restored, text["id"])
        found = measure(cell.config, cell, restored, question)
        assert [word.text for word in found.words] == text["token"]
        np.testing.assert_allclose(found.attention, text["attention"], atol=1e-6)
        of_words = row(importance, number)
        np.testing.assert_allclose(found.gradient, of_words["gradient"], atol=1e-9)
        np.testing.assert_allclose(found.leave_one_out, of_words["loo"], atol=1e-9)
        np.testing.assert_allclose(
            found.adversary, row(other, number)["exact_attention"], atol=1e-6
        )
        correlation, adversarial = (
            row(taken[name], number) for name in ("correlation", "adversarial")
        )
        for name in ("tau_gradient", "tau_loo", "tau_gradient_loo"):
            np.testing.assert_allclose(value(found, name), correlation[name], atol=1e-9)
            pvalue = next(one.pvalue for one in found.quantities if one.name == name)
            np.testing.assert_allclose(pvalue, correlation[f"{name}_pvalue"], atol=1e-9)
        assert value(found, "adversary_jsd") == pytest.approx(adversarial["eps_max_jsd_exact"])
        assert value(found, "eps_max_jsd") == pytest.approx(adversarial["eps_max_jsd"], abs=1e-9)
        median = row(taken["permutation"], number)["delta_y_med"]
        assert value(found, "delta_y_med") == pytest.approx(median, abs=1e-6)
        before = [one.before for one in found.outputs]
        np.testing.assert_allclose(before, row(predictions, number)["probability"], atol=1e-6)


def test_a_sentence_of_ones_own_has_the_numbers_that_draw_nothing_of_a_like_test_document(
    classified,
):
    cell = classified("encoder=lstm", "analysis=none")
    text = row(cell.read_table("tokens"), 0)
    theirs = examine(cell.config, cell, text["id"])
    ours = examine(cell.config, cell, Asked(" ".join(text["token"])))
    assert (theirs.words, theirs.outputs) == (ours.words, ours.outputs)
    np.testing.assert_array_equal(theirs.adversary, ours.adversary)
    assert theirs.origin.startswith(f"Test instance {text['id']} (")
    assert ours.origin == ""


def test_a_test_instances_question_comes_with_it(questioned):
    cell = questioned("analysis=[permutation]")
    number = 3
    text, known = (row(cell.read_table(name), number) for name in ("tokens", "instances"))
    found = examine(cell.config, cell, text["id"])
    assert [word.text for word in found.query] == text["query"]
    answers = cell.read_json("manifest")["corpus"]["answers"]
    stored = dict(zip(answers, known["probability"], strict=True))
    for one in found.outputs:
        assert one.before == pytest.approx(stored[one.name], abs=1e-6)
    assert repr(answers[known["label"]]) in found.origin
    [permutation] = cell.analyses()
    median = row(permutation.read_instances(), number)["delta_y_med"]
    assert value(found, "delta_y_med") == pytest.approx(median, abs=1e-6)


def test_what_an_instance_could_not_answer_it_may_not_answer_now(questioned):
    cell = questioned()
    table = cell.read_table("instances").to_pydict()
    table["probability"][0][2:] = [0.0] * len(table["probability"][0][2:])
    cell.write_table("instances", table)
    cell.seal()
    found = examine(cell.config, cell, table["id"][0])
    assert (len(found.outputs), found.others) == (2, 0)


def test_the_output_with_the_adversary_is_what_the_model_gives(classified):
    cell = classified("encoder=lstm", "analysis=none")
    restored = restore(cell.config, cell)
    question = ask(restored, Asked("ba be positiveba negativebi bo"))
    found = measure(cell.config, cell, restored, question)
    assert found.kind == "exact"
    batch, model = question.batch, restored.model
    encoding = model.encode(batch)
    attention = torch.zeros(batch.mask.shape, dtype=torch.float64)
    attention[batch.mask] = torch.from_numpy(found.adversary)
    positive = torch.sigmoid(model.decode(model.project(encoding), attention).detach())[0, 0]
    assert [one.name for one in found.outputs] == ["negative", "positive"]
    assert found.outputs[1].after == pytest.approx(float(positive))
    moved = abs(found.outputs[1].after - found.outputs[1].before)
    assert value(found, "adversary_tvd") == pytest.approx(moved)
    assert moved <= found.epsilon + 1e-8


def test_a_cell_needs_no_corpus_and_changes_nothing(inferred, tmp_path):
    cell = inferred()
    shutil.move(cell.root, tmp_path / "elsewhere")
    (tmp_path / "pairs.csv").unlink()
    moved = replace(cell, root=tmp_path / "elsewhere")
    before = {path: path.stat().st_mtime_ns for path in moved.root.rglob("*")}
    found = examine(moved.config, moved, Asked("a fine film", "it is fine"))
    assert [word.text for word in found.query] == ["it", "is", "fine"]
    assert {one.name for one in found.outputs} == {"yes", "no", "maybe"}
    assert sum(one.before for one in found.outputs) == pytest.approx(1)
    assert found.kind == "found"
    assert {path: path.stat().st_mtime_ns for path in moved.root.rglob("*")} == before


def test_a_questions_most_probable_answers_are_named(questioned):
    cell = questioned()
    asked = Asked("Mary moved to the kitchen. John went to the hallway.", "Where is Mary?")
    found = examine(cell.config, cell, asked)
    assert [word.text for word in found.words][5:7] == [".", "john"]
    assert [word.text for word in found.query] == ["where", "is", "mary"]
    probable = [max(one.before, one.after) for one in found.outputs]
    assert len(probable) == 6
    assert probable == sorted(probable, reverse=True)
    answers = cell.read_json("manifest")["corpus"]["answers"]
    assert found.others == len(answers) - 6
    assert found.epsilon == 0.05


def test_only_candidates_may_be_answered(questioned):
    cell = questioned()
    asked = Asked("Mary moved to the kitchen.", "Where is Mary?", ("Kitchen ", "office"))
    found = examine(cell.config, cell, asked)
    assert {one.name for one in found.outputs} == {"kitchen", "office"}
    assert (sum(one.before for one in found.outputs), found.others) == (pytest.approx(1), 0)


def test_without_an_exact_maximum_the_search_gives_the_adversary(classified):
    cell = classified("encoder=average", "analysis=none", "adversary.exact=false")
    found = examine(cell.config, cell, Asked("ba be positiveba negativebi"))
    assert found.kind == "search"
    assert "eps_max_jsd" not in [one.name for one in found.quantities]
    alone = classified("encoder=average", "analysis=none", "adversary.search=false", "seed=1")
    found = examine(alone.config, alone, Asked("ba be positiveba negativebi"))
    assert found.kind == "exact"
    assert "eps_max_jsd" not in [one.name for one in found.quantities]


def test_one_word_has_no_other_attention_and_no_tau(classified):
    cell = classified("encoder=average", "analysis=none")
    found = examine(cell.config, cell, Asked("ba"))
    assert found.attention.tolist() == found.adversary.tolist() == [1.0]
    assert np.isnan(found.leave_one_out).all()
    assert np.isnan(value(found, "tau_gradient"))
    assert value(found, "adversary_jsd") == 0
    assert "there is no other whose output is within" in found.columns[3].meaning


def test_settings_that_an_analysis_refuses_are_named(classified):
    cell = classified("encoder=average", "analysis=none")
    for section, key, setting in [("budget", "permutations", -1), ("adversary", "epsilon", 2)]:
        config = {**cell.config, section: {**cell.config[section], key: setting}}
        with pytest.raises(ValueError, match=rf"^{section}.{key}: found {setting}"):
            examine(config, cell, Asked("ba"))
