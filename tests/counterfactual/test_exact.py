"""The exact optimum against loops over all vertices, simplex grids, the search and real models."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.batch import collate
from attention_audit.counterfactual import Search, adversarial_search, exact, exact_adversary
from attention_audit.measures import jsd, probabilities, tvd
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import LSTM

FRONTIER = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)


def one_row(scores, attention, epsilons, offset=0.0):
    """The optimum of one document, all of whose positions are words."""
    scores = torch.tensor([scores], dtype=torch.float64)
    attention = torch.tensor([attention], dtype=torch.float64)
    mask = torch.ones_like(scores, dtype=torch.bool)
    found = exact_adversary(
        scores, torch.tensor([offset], dtype=torch.float64), attention, mask, epsilons
    )
    return found.jsd[0], found.attention(attention)[0]


def divergence(a, b):
    """The JSD of two lists of weights, from its definition."""
    middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    terms = [x * math.log(x / m) for side in (a, b) for x, m in zip(side, middle, strict=True) if x]
    return sum(terms) / 2


def every_vertex(scores, attention, epsilon, offset=0.0):
    """The largest JSD of all vertices, each written out and measured."""
    total = sum(attention)
    attention = [a / total for a in attention]
    z = sum(s * a for s, a in zip(scores, attention, strict=True)) + offset
    p, q = 1 / (1 + math.exp(-z)), 1 / (1 + math.exp(z))
    limit = epsilon + 1e-9
    low = -math.inf if p <= limit else math.log((p - limit) / (q + limit)) - offset
    high = math.inf if q <= limit else math.log((p + limit) / (q - limit)) - offset
    best = -math.inf
    for i, j in itertools.product(range(len(scores)), repeat=2):
        tries = [1.0] if i == j and low <= scores[i] <= high else []
        tries += [
            (x - scores[j]) / (scores[i] - scores[j])
            for x in (low, high)
            if math.isfinite(x) and scores[j] < x < scores[i]
        ]
        for weight in tries:
            vertex = [0.0] * len(scores)
            vertex[j] += 1 - weight
            vertex[i] += weight
            best = max(best, divergence(vertex, attention))
    return best


def grid(tokens, steps):
    """All distributions over so many tokens whose weights are multiples of 1/steps."""
    parts = itertools.combinations(range(steps + tokens - 1), tokens - 1)
    cuts = np.array([(-1, *part, steps + tokens - 1) for part in parts])
    return torch.from_numpy((np.diff(cuts, axis=1) - 1) / steps)


# Few values, so that ties, equal logits and zeros come up; large ones, so that outputs saturate.
LOGITS = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.floats(-40, 40), st.floats(-3, 3))
WEIGHTS = st.one_of(st.sampled_from([0.0, 0.25, 1.0]), st.floats(1e-30, 1.0))
EPSILONS = st.sampled_from([0.0, 0.001, 0.01, 0.05, 0.3, 1.0])


@st.composite
def documents(draw, least=1, most=7):
    size = draw(st.integers(least, most))
    scores = draw(st.lists(LOGITS, min_size=size, max_size=size))
    weights = draw(st.lists(WEIGHTS, min_size=size, max_size=size).filter(lambda w: sum(w) > 0))
    return scores, [w / sum(weights) for w in weights], draw(st.floats(-3, 3))


@settings(deadline=None, max_examples=200)
@given(documents(), EPSILONS)
def test_it_is_the_best_of_all_vertices(document, epsilon):
    scores, attention, offset = document
    jsds, _ = one_row(scores, attention, [epsilon], offset)
    assert jsds[0].item() == pytest.approx(
        every_vertex(scores, attention, epsilon, offset), abs=1e-10
    )


@pytest.mark.parametrize("shape", ["noise", "growing", "shrinking", "both ways"])
def test_no_token_that_matters_is_passed_over(shape):
    """Documents long enough for it, with attention that keeps few tokens, or all of them."""
    torch.manual_seed(3)
    for _ in range(2):
        scores = 2 * torch.randn(30, dtype=torch.float64)
        far = (scores - scores.mean()).abs()
        weight = {
            "noise": torch.randn(30).double().mul(2).exp(),
            "growing": 0.01 + far,
            "shrinking": 1 / (0.1 + far),
            "both ways": far.exp() * torch.rand(30),
        }[shape]
        attention = (weight / weight.sum()).tolist()
        found, _ = one_row(scores.tolist(), attention, FRONTIER)
        expected = [every_vertex(scores.tolist(), attention, epsilon) for epsilon in FRONTIER]
        assert found.tolist() == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(documents(least=2, most=4), EPSILONS)
def test_no_distribution_of_a_fine_grid_is_better(document, epsilon):
    scores, attention, offset = document
    jsds, weights = one_row(scores, attention, [epsilon], offset)
    every = grid(len(scores), {2: 400, 3: 60, 4: 24}[len(scores)])
    original = torch.tensor(attention, dtype=torch.float64)

    def output(given):
        return probabilities((given @ torch.tensor(scores, dtype=torch.float64))[:, None] + offset)

    near = tvd(output(every), output(original[None])) <= epsilon
    if near.any():
        assert jsds[0] >= jsd(every[near], original).max() - 1e-9
    assert tvd(output(weights), output(original[None])) <= epsilon + 1e-9 + 1e-12


def test_a_grid_comes_close_to_it():
    scores, attention = [0.4, -1.0, 2.0], [0.2, 0.5, 0.3]
    every, original = grid(3, 1000), torch.tensor(attention, dtype=torch.float64)
    outputs = probabilities((every @ torch.tensor(scores, dtype=torch.float64))[:, None])
    whole = probabilities((original @ torch.tensor(scores, dtype=torch.float64))[None, None])
    best = jsd(every[tvd(outputs, whole) <= 0.05], original).max()
    found, _ = one_row(scores, attention, [0.05])
    assert best <= found[0] <= best + 0.002


@settings(deadline=None, max_examples=50)
@given(documents(), st.randoms(use_true_random=False))
def test_the_value_is_that_of_its_distribution(document, random):
    scores, attention, offset = document
    found, weights = one_row(scores, attention, FRONTIER, offset)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(6, dtype=torch.float64))
    assert ((weights > 0).sum(-1) <= 2).all()
    original = torch.tensor(attention, dtype=torch.float64)
    torch.testing.assert_close(jsd(weights, original), found, rtol=0, atol=1e-10)
    order = random.sample(range(len(scores)), len(scores))
    shuffled, _ = one_row([scores[t] for t in order], [attention[t] for t in order], FRONTIER)
    unshuffled, _ = one_row(scores, attention, FRONTIER)
    torch.testing.assert_close(shuffled, unshuffled, rtol=0, atol=1e-10)


@settings(deadline=None, max_examples=50)
@given(documents())
def test_more_room_gives_no_less(document):
    scores, attention, offset = document
    found, _ = one_row(scores, attention, (0.0, *FRONTIER, 1.0), offset)
    assert (found.diff() >= 0).all()
    assert found[-1] == pytest.approx(
        max(
            divergence([float(t == u) for u in range(len(scores))], attention)
            for t in range(len(scores))
        ),
        abs=1e-12,
    )


def test_a_single_word_has_no_alternative():
    found, weights = one_row([3.0], [1.0], [0.01, 1.0])
    assert found.tolist() == [0, 0]
    assert weights.tolist() == [[1], [1]]


def test_equal_logits_leave_all_attention_free():
    found, weights = one_row([0.7] * 4, [0.1, 0.2, 0.3, 0.4], [0.0])
    assert weights.tolist() == [[1, 0, 0, 0]]
    assert found[0] == pytest.approx(divergence([1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]), abs=1e-12)


def test_words_without_attention_are_the_most_different():
    # The second and the third word have none, and the output lies between theirs.
    found, weights = one_row([0.0, -2.0, 2.0], [1.0, 0.0, 0.0], [0.01])
    assert found[0] == pytest.approx(math.log(2), abs=1e-12)
    assert weights[0, 0] == 0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_saturated_output_is_bounded_on_one_side_only(sign):
    """p = 1 - 2e-9: any logit above some 4.6 is within 0.01, however large."""
    scores = [sign * s for s in (20.0, 1000.0, 5.0, 4.0)]
    _, weights = one_row(scores, [0.97, 0.01, 0.005, 0.015], [0.01])
    assert weights[0].tolist() == [0, 0, 1, 0]
    _, weights = one_row(scores, [0.97, 0.005, 0.01, 0.015], [0.01])
    assert weights[0].tolist() == [0, 1, 0, 0]


def test_the_bias_counts():
    scores, attention = [-1.0, 0.0, 1.0, 4.0], [0.1, 0.5, 0.3, 0.1]
    undecided, _ = one_row(scores, attention, [0.01])
    decided, _ = one_row(scores, attention, [0.01], offset=8.0)
    assert decided[0] > undecided[0] + 0.05
    assert decided[0] == pytest.approx(every_vertex(scores, attention, 0.01, 8.0), abs=1e-12)


def test_documents_of_a_batch_do_not_touch_each_other(scene):
    decode, attention, mask, _, _ = scene(lengths=(6, 1, 9, 0, 3))
    scores, offset = decode.projection.values[..., 0], torch.zeros(5)
    scores[~mask] = torch.nan  # what stands off the mask counts for nothing
    together = exact_adversary(scores, offset, attention, mask, FRONTIER)
    spread = together.attention(attention)
    assert (spread[~mask[:, None].expand_as(spread)] == 0).all()
    assert together.jsd.isnan().all(1).tolist() == [False, False, False, True, False]
    for row in range(5):
        kept = mask[row]
        if kept.any():
            alone, weights = one_row(
                scores[row][kept].tolist(), attention[row][kept].tolist(), FRONTIER
            )
            torch.testing.assert_close(alone, together.jsd[row], rtol=0, atol=1e-12)
            torch.testing.assert_close(weights, spread[row][:, kept], rtol=0, atol=1e-9)


def test_pairs_looked_at_in_parts_give_the_same(scene, monkeypatch):
    decode, attention, mask, _, _ = scene(lengths=(30, 25, 9))
    given = (decode.projection.values[..., 0], torch.zeros(3), attention, mask, FRONTIER)
    whole = exact_adversary(*given)
    monkeypatch.setattr(exact, "PAIRS_AT_ONCE", 7)
    parts = exact_adversary(*given)
    for found, expected in zip(vars(parts).values(), vars(whole).values(), strict=True):
        assert torch.equal(found, expected)


def test_epsilons_of_each_row_are_those_of_one_row_at_a_time(scene):
    decode, attention, mask, _, _ = scene(lengths=(6, 1, 9, 0, 3))
    scores, offset = decode.projection.values[..., 0], torch.linspace(-2, 2, 5).double()
    epsilons = torch.tensor(
        [[0.0, 0.3, 0.01], [0.5, 0.0, 1.0], [0.05, 0.05, 0.2], [0.1, 0.0, 1.0], [1.0, 0.4, 1e-4]],
        dtype=torch.float64,
    )
    together = exact_adversary(scores, offset, attention, mask, epsilons)
    spread = together.attention(attention)
    for row, own in enumerate(epsilons):
        one = slice(row, row + 1)
        alone = exact_adversary(
            scores[one], offset[one], attention[one], mask[one], [float(x) for x in own]
        )
        torch.testing.assert_close(together.jsd[one], alone.jsd, rtol=0, atol=1e-12, equal_nan=True)
        torch.testing.assert_close(spread[one], alone.attention(attention[one]), rtol=0, atol=1e-12)
    turned = exact_adversary(scores, offset, attention, mask, epsilons.flip(0))
    assert not torch.allclose(together.jsd, turned.jsd, equal_nan=True)


def test_the_same_epsilons_for_each_row_are_those_for_all(scene):
    decode, attention, mask, _, _ = scene(lengths=(6, 1, 9))
    given = decode.projection.values[..., 0], torch.zeros(3), attention, mask
    every = exact_adversary(*given, torch.tensor([FRONTIER] * 3, dtype=torch.float64))
    assert torch.equal(every.jsd, exact_adversary(*given, FRONTIER).jsd)


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
@pytest.mark.parametrize("objective", ["paper", "program"])
def test_no_search_finds_more(scene, epsilon, objective):
    decode, attention, mask, ids, _ = scene(lengths=[*range(1, 21), 40, 60])
    search = Search(epsilon=epsilon, objective=objective, steps=300)
    searched = adversarial_search(decode, attention, mask, ids, search).eps_max_jsd
    scores, offset = decode.projection.values[..., 0], decode.projection.offset[:, 0]
    found = exact_adversary(scores, offset, attention, mask, [epsilon]).jsd[:, 0]
    assert (searched <= found + 1e-12).all()
    assert (searched < found - 0.05).any()


def test_a_real_model_confirms_its_distributions():
    """Hidden states -> attention -> decoder again, with the attention that was found."""
    torch.manual_seed(1)
    model = assemble(torch.randn(30, 6), partial(LSTM, hidden=4), Additive, outputs=2).double()
    lengths = (1, 2, 5, 9, 17, 30)
    documents = [torch.randint(4, 30, (length,)).tolist() for length in lengths]
    batch = collate(documents, [0] * 6, list(range(6)))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
        encoding = model.eval().encode(batch)
        attention, projection = model.attend(encoding), model.project(encoding)
        found = exact_adversary(
            projection.values[..., 0], projection.offset[:, 0], attention, batch.mask, FRONTIER
        )
        weights = found.attention(attention)
        hidden = weights @ encoding.hidden
        moved = tvd(
            probabilities(model.decoder.output(hidden)),
            probabilities(model(batch).logits)[:, None],
        )
    assert (weights[~batch.mask[:, None].expand_as(weights)] == 0).all()
    limits = torch.tensor(FRONTIER, dtype=torch.float64) + 1e-9
    assert (moved <= limits + 1e-12).all()
    # A bound is reached wherever two tokens are mixed.
    two = (weights > 0).sum(-1) == 2
    assert two.any()
    torch.testing.assert_close(moved[two], limits.expand_as(moved)[two], rtol=0, atol=1e-10)
    torch.testing.assert_close(jsd(weights, attention[:, None]), found.jsd, rtol=0, atol=1e-10)
