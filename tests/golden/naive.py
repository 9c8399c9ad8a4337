"""The whole computation again, in plain loops over numpy, one document at a time.

Nothing here is batched, padded, projected or differentiated by a library, and nothing of the
package is used: gradients are central differences, deletions are reruns, Adam is written out.
A document is `<sos> words <eos>`; weights are a dict of float64 arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

STEP = 1e-6


@dataclass
class Document:
    """Token ids with `<sos>` and `<eos>`, of the text and of the question; allowed answers."""

    tokens: list[int]
    question: list[int] | None = None
    allowed: list[int] | None = None


@dataclass
class Model:
    """Weights by name, and which encoder and attention they belong to."""

    weights: dict[str, np.ndarray]
    encoder: str
    attention: str

    def linear(self, name, vector):
        rows = self.weights[f"{name}.weight"]
        result = [sum(w * x for w, x in zip(row, vector, strict=True)) for row in rows]
        bias = self.weights.get(f"{name}.bias", np.zeros(len(rows)))
        return np.array([r + b for r, b in zip(result, bias, strict=True)])

    def hidden(self, prefix, embedded):
        return {"lstm": self._lstm, "cnn": self._cnn, "average": self._average}[self.encoder](
            prefix, embedded
        )

    def _average(self, prefix, embedded):
        return [np.maximum(self.linear(f"{prefix}.projection", e), 0) for e in embedded]

    def _lstm(self, prefix, embedded):
        ahead = self._one_way(f"{prefix}.forward_lstm", embedded)
        back = self._one_way(f"{prefix}.backward_lstm", embedded[::-1])[::-1]
        return [np.concatenate([a, b]) for a, b in zip(ahead, back, strict=True)]

    def _one_way(self, name, embedded):
        recurrent = self.weights[f"{name}.weight_hh_l0"]
        size = recurrent.shape[1]
        state, cell, states = np.zeros(size), np.zeros(size), []
        for e in embedded:
            gates = (
                self.weights[f"{name}.weight_ih_l0"] @ e
                + self.weights[f"{name}.bias_ih_l0"]
                + recurrent @ state
                + self.weights[f"{name}.bias_hh_l0"]
            )
            i, f, g, o = gates.reshape(4, size)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            state = sigmoid(o) * np.tanh(cell)
            states.append(state)
        return states

    def _cnn(self, prefix, embedded):
        states = []
        for t in range(len(embedded)):
            parts = []
            layer = 0
            while f"{prefix}.convolutions.{layer}.weight" in self.weights:
                kernel = self.weights[f"{prefix}.convolutions.{layer}.weight"]
                total = self.weights[f"{prefix}.convolutions.{layer}.bias"].copy()
                for offset in range(kernel.shape[2]):
                    source = t + offset - kernel.shape[2] // 2
                    if 0 <= source < len(embedded):
                        total += kernel[:, :, offset] @ embedded[source]
                parts.append(np.maximum(total, 0))
                layer += 1
            states.append(np.concatenate(parts))
        return states

    def query(self, document):
        if document.question is None:
            return None
        embedded = [self.weights["query_embedding.weight"][token] for token in document.question]
        states = self.hidden("query_encoder", embedded)
        if self.encoder == "lstm":
            half = len(states[0]) // 2
            return np.concatenate([states[-1][:half], states[0][half:]])
        if self.encoder == "cnn":
            return np.array([max(state[i] for state in states) for i in range(len(states[0]))])
        return sum(states) / len(states)

    def score(self, hidden, query):
        if self.attention == "dot":
            asked = self.weights["attention.vector.weight"][0] if query is None else query
            return sum(h * q for h, q in zip(hidden, asked, strict=True)) / math.sqrt(len(hidden))
        energy = self.linear("attention.hidden", hidden)
        if query is not None:
            energy = energy + self.linear("attention.query", query)
        return self.linear("attention.vector", np.tanh(energy))[0]

    def attend(self, hidden, query):
        """Weights of every position; the first and the last, `<sos>` and `<eos>`, get none."""
        exponentials = [math.exp(self.score(h, query)) for h in hidden[1:-1]]
        total = sum(exponentials)
        return np.array([0.0, *(e / total for e in exponentials), 0.0])

    def answer(self, hidden, query, attention, allowed):
        """Probabilities of all classes, given the attention."""
        context = sum(a * h for a, h in zip(attention, hidden, strict=True))
        if query is None:
            logits = self.linear("decoder.output", context)
        else:
            mixed = self.linear("decoder.passage", context) + self.linear("decoder.query", query)
            logits = self.linear("decoder.output", np.tanh(mixed))
        if len(logits) == 1:
            return np.array([sigmoid(-logits[0]), sigmoid(logits[0])])
        kept = range(len(logits)) if allowed is None else allowed
        total = sum(math.exp(logits[c]) for c in kept)
        return np.array([math.exp(z) / total if c in kept else 0 for c, z in enumerate(logits)])

    def embed(self, document):
        return [self.weights["embedding.weight"][token] for token in document.tokens]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def predict(model, document):
    """Probabilities and attention."""
    hidden, query = model.hidden("encoder", model.embed(document)), model.query(document)
    attention = model.attend(hidden, query)
    return model.answer(hidden, query, attention, document.allowed), attention


def gradient(model, document, through_attention=False):
    """|d y / d h| where the embedding of token t is scaled by 1 + h: e_t . dy/de_t."""
    whole, attention = predict(model, document)
    chosen = 1 if document.question is None and len(whole) == 2 else int(np.argmax(whole))
    query, found = model.query(document), np.zeros(len(attention))
    for t in range(1, len(attention) - 1):
        sides = []
        for h in (STEP, -STEP):
            embedded = [e.copy() for e in model.embed(document)]
            embedded[t] *= 1 + h
            hidden = model.hidden("encoder", embedded)
            weights = model.attend(hidden, query) if through_attention else attention
            sides.append(model.answer(hidden, query, weights, document.allowed)[chosen])
        found[t] = abs(sides[0] - sides[1]) / (2 * STEP)
    return found


def leave_one_out(model, document):
    """TVD after deleting each word; NaN at `<sos>`, `<eos>` and where nothing would be left."""
    whole, attention = predict(model, document)
    found = np.full(len(attention), np.nan)
    if len(document.tokens) > 3:
        for t in range(1, len(attention) - 1):
            rest = document.tokens[:t] + document.tokens[t + 1 :]
            reduced, _ = predict(model, Document(rest, document.question, document.allowed))
            found[t] = tvd(reduced, whole)
    return found


def leave_one_weight_out(model, document):
    """TVD after dropping each word's weight and renormalising the others."""
    whole, attention = predict(model, document)
    hidden, query = model.hidden("encoder", model.embed(document)), model.query(document)
    found = np.full(len(attention), np.nan)
    if len(document.tokens) > 3:
        for t in range(1, len(attention) - 1):
            rest = attention.copy()
            rest[t] = 0
            reduced = model.answer(hidden, query, rest / sum(rest), document.allowed)
            found[t] = tvd(reduced, whole)
    return found


def permuted(model, document, order):
    """TVD and attention when position t gets the weight of position order[t]."""
    whole, attention = predict(model, document)
    hidden, query = model.hidden("encoder", model.embed(document)), model.query(document)
    moved = np.array([0.0, *(attention[order[t]] for t in range(1, len(attention) - 1)), 0.0])
    return tvd(model.answer(hidden, query, moved, document.allowed), whole), moved


def tvd(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def jsd(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        middle = (x + y) / 2
        total += x * math.log(x / middle) / 2 if x > 0 else 0
        total += y * math.log(y / middle) / 2 if y > 0 else 0
    return total


def adversaries(model, document, noise, steps, rule, epsilon):
    """Adversarial attention [K][T]: `noise` [K][words] starts it, `rule` is paper or program."""
    whole, attention = predict(model, document)
    hidden, query = model.hidden("encoder", model.embed(document)), model.query(document)
    k, words = noise.shape

    def weights(logits):
        exponentials = np.exp(logits - logits.max())
        return np.array([0.0, *(exponentials / exponentials.sum()), 0.0])

    def moved(weights_):
        return tvd(model.answer(hidden, query, weights_, document.allowed), whole)

    def objective(logits):
        candidates = [weights(row) for row in logits]
        apart = sum(jsd(c, attention) for c in candidates)
        pairs = [jsd(candidates[i], candidates[j]) for i in range(k) for j in range(i + 1, k)]
        if rule == "paper":
            hinges = [500 / k * max(0, moved(c) - epsilon) for c in candidates]
            return apart + sum(pairs) / (k * (k - 1)) - sum(hinges)
        columns = 1 if len(whole) == 2 else 2  # its sum of |dp| has no 1/2, but one sigmoid column
        hinges = [500 * max(0, columns * moved(c) - 0.01) for c in candidates]
        return apart + 2 / k**2 * sum(pairs) - sum(hinges)

    def slope(logits):
        found = np.zeros_like(logits)
        for i in range(k):
            for t in range(words):
                up, down = logits.copy(), logits.copy()
                up[i, t] += STEP
                down[i, t] -= STEP
                found[i, t] = (objective(up) - objective(down)) / (2 * STEP)
        return found

    logits = math.log(1 / words) + 3 * noise
    iterates = [logits]
    mean, square, largest = (np.zeros_like(logits) for _ in range(3))
    for step in range(1, steps + 1):
        downhill = -slope(logits)
        mean = 0.9 * mean + 0.1 * downhill
        square = 0.999 * square + 0.001 * downhill**2
        largest = np.maximum(largest, square)
        scale = np.sqrt(largest / (1 - 0.999**step)) + 1e-8
        logits = logits - 0.01 * mean / (1 - 0.9**step) / scale
        iterates.append(logits)
    found = [weights(row) for row in iterates[-1]]
    if rule == "paper":
        for i in range(k):
            every = [weights(iterate[i]) for iterate in iterates]
            feasible = [w for w in every if moved(w) <= epsilon + 1e-9]
            if feasible:
                found[i] = max(feasible, key=lambda w: jsd(w, attention))
    return np.array(found)
