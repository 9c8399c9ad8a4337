"""The climb's gradients and steps against autograd and torch's own Adam."""

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.batch import Encoding
from attention_audit.counterfactual import Decoding, Search, adversarial_search
from attention_audit.counterfactual.adversarial import draw_noise
from attention_audit.counterfactual.climb import Adam, Divergences, Pull
from attention_audit.measures import jsd, probabilities, tvd
from attention_audit.models.decoders import Classification, WithQuery

BATCH, TOKENS, HIDDEN, K = 3, 7, 6, 4
DECODERS = {
    "sigmoid": lambda: Classification(HIDDEN, 1),
    "classes": lambda: Classification(HIDDEN, 3),
    "answers": lambda: WithQuery(HIDDEN, HIDDEN, 5),
    "inference": lambda: WithQuery(HIDDEN, HIDDEN, 2),
}


class Case:
    """Random hidden states under one decoder, and its output written for autograd."""

    def __init__(self, name, size=3.0):
        torch.manual_seed(5)
        self.decoder = DECODERS[name]().double().requires_grad_(False)
        self.decoder.output.weight.mul_(size)
        position = torch.arange(TOKENS + 2)
        self.mask = (position > 0) & (position <= torch.tensor([[TOKENS], [3], [5]]))
        allowed = torch.ones(BATCH, 5, dtype=torch.bool)
        allowed[0, 2] = allowed[2, :3] = False
        self.hidden = torch.randn(BATCH, TOKENS + 2, HIDDEN, dtype=torch.float64)
        self.query = torch.randn(BATCH, HIDDEN, dtype=torch.float64)
        self.allowed = allowed if name == "answers" else None
        encoding = Encoding(
            self.hidden, self.query, self.mask, self.allowed, torch.arange(BATCH) + 9
        )
        self.decode = Decoding(self.decoder, self.decoder.project(encoding))
        scores = torch.randn(BATCH, TOKENS + 2, dtype=torch.float64)
        self.attention = self.softmax(scores[:, None])[:, 0]
        self.noise = draw_noise(self.mask, encoding.ids, candidates=K, seed=1)

    def softmax(self, logits):
        return logits.masked_fill(~self.mask[:, None], -1e30).softmax(-1)

    def output(self, attention):
        context = attention @ self.hidden
        if isinstance(self.decoder, Classification):
            return probabilities(self.decoder.output(context))
        asked = self.decoder.query(self.query)[:, None]
        logits = self.decoder.output(torch.tanh(self.decoder.passage(context) + asked))
        if self.allowed is not None:
            logits = logits.masked_fill(~self.allowed[:, None], -torch.inf)
        return probabilities(logits)

    def jsd(self, a, b):
        """The JSD over the words, which autograd can differentiate: ln 0 has no slope."""
        a, b = (torch.where(self.mask[:, None], side, 1.0) for side in (a, b))
        both = (a + b) / 2
        return 0.5 * (a * (a / both).log() + b * (b / both).log()).sum(-1)

    def objective(self, candidates, search):
        """Equation 3, negated, or that of the program: as they are written."""
        original = self.output(self.attention[:, None])
        moved = tvd(self.output(candidates), original)
        apart = self.jsd(candidates, self.attention[:, None]).sum()
        pairs = sum(
            self.jsd(candidates[:, [i]], candidates[:, [j]]).sum()
            for i, j in combinations(range(K), 2)
        )
        if search.objective == "paper":
            hinge = (moved - search.epsilon).clamp(min=0).sum()
            return search.penalty / K * hinge - apart - pairs / (K * (K - 1))
        columns = 1 if original.shape[-1] == 2 else 2
        return 500 * (columns * moved - 0.01).clamp(min=0).sum() - apart - 2 / K**2 * pairs


@pytest.fixture(params=DECODERS)
def case(request):
    return Case(request.param)


@pytest.mark.parametrize("objective", ["paper", "program"])
def test_gradients_are_autograds(case, objective):
    search = Search(candidates=K, objective=objective)
    candidates = case.softmax(2 * case.noise).requires_grad_()
    (expected,) = torch.autograd.grad(case.objective(candidates, search), candidates)
    candidates = candidates.detach()
    original = case.decode(case.attention[:, None])
    weights = search.weights(original.shape[-1])
    moved, toward = case.decode.moved(candidates, original)
    torch.testing.assert_close(moved, tvd(case.output(candidates), original), rtol=0, atol=1e-14)
    first = candidates.transpose(0, 1).contiguous()
    slope = Divergences(case.attention, first, weights).slope(first)
    pulled = weights.hinge * (moved >= weights.margin)[..., None] * toward
    assert (moved > weights.margin).any()
    Pull(case.decode.projection.values, first).add(slope, pulled)
    found = slope.transpose(0, 1)
    # A constant for each candidate is free: softmax does not pass it on.
    difference = torch.where(case.mask[:, None], found - expected, 0.0)
    constant = difference.sum(-1, keepdim=True) / case.mask.sum(-1)[:, None, None]
    spread = torch.where(case.mask[:, None], difference - constant, 0.0)
    assert spread.abs().max() <= 1e-10


@pytest.mark.parametrize("objective", ["paper", "program"])
def test_iterates_are_those_of_autograd_and_torchs_adam(case, objective):
    search = Search(candidates=K, objective=objective, epsilon=0.05, steps=60)
    logits = -case.mask.sum(1).double().log()[:, None, None] + search.noise * case.noise
    logits.requires_grad_()
    adam = torch.optim.Adam([logits], lr=search.learning_rate, amsgrad=True)
    original, iterates = case.output(case.attention[:, None]), []
    for _ in range(search.steps):
        iterates.append(case.softmax(logits).detach())
        adam.zero_grad()
        case.objective(case.softmax(logits), search).backward()
        adam.step()
    iterates.append(case.softmax(logits).detach())
    expected = iterates[-1]
    if objective == "paper":
        every = torch.stack(iterates)
        apart = jsd(every, case.attention[:, None])
        moved = torch.stack([tvd(case.output(one), original) for one in iterates])
        apart[moved > 0.05 + 1e-9] = -1
        largest, step = apart.max(0)
        rows, candidates = torch.arange(BATCH)[:, None], torch.arange(K)
        best = every[step, rows, candidates]
        expected = torch.where(largest[..., None] >= 0, best, expected)
    found = adversarial_search(
        case.decode, case.attention, case.mask, torch.arange(BATCH), search, noise=case.noise
    )
    torch.testing.assert_close(found.attention, expected, rtol=0, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(
    st.floats(1e-4, 1.0),
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
    st.sampled_from([1e-9, 1.0]),
)
def test_adam_is_torchs(rate, slopes, scale):
    ours = torch.tensor([0.5, -2.0], dtype=torch.float64)
    theirs = ours.clone().requires_grad_()
    adam, reference = Adam(ours, rate), torch.optim.Adam([theirs], lr=rate, amsgrad=True)
    # Large gradients first, so that the largest second moment is not the latest.
    for slope in (*sorted(slopes, key=abs, reverse=True), 0.0, *slopes):
        gradient = scale * torch.tensor([slope, 1 - slope], dtype=torch.float64)
        theirs.grad = gradient.clone()
        reference.step()
        adam.step(gradient)
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-10, atol=1e-12)


def test_the_original_and_equal_outputs_have_no_pull(case):
    attention = case.attention[:, None]
    moved, toward = case.decode.moved(attention, case.decode(attention))
    assert (moved == 0).all()
    assert (toward == 0).all()
