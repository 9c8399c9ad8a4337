"""Agreement with the original program: its trained model, number by number, on all of SST's test.

Its folder is named by ATTENTION_AUDIT_GOLDEN; see the README there for what each array is.
"""

import csv
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_audit.batch import Batch, collate
from attention_audit.counterfactual import (
    Decoding,
    Search,
    adversarial_search,
    exact_adversary,
    permutation,
)
from attention_audit.importance import leave_one_out, signed_gradient
from attention_audit.measures import Tau, kendall_tau, sig_frac, summarise
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import LSTM

FOLDER = os.environ.get("ATTENTION_AUDIT_GOLDEN")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="ATTENTION_AUDIT_GOLDEN names no folder with the original program's outputs"
)
ROWS = 512


def _arrays(name: str) -> dict[str, np.ndarray]:
    return dict(np.load(Path(FOLDER or "", "sst+lstm+additive", name)))


def _model() -> AttentionModel:
    theirs = {name: torch.from_numpy(array) for name, array in _arrays("weights.npz").items()}
    ours = {
        "embedding.weight": theirs["encoder.embedding.weight"],
        "attention.hidden.weight": theirs["decoder.attention.attn1.weight"],
        "attention.hidden.bias": theirs["decoder.attention.attn1.bias"],
        "attention.vector.weight": theirs["decoder.attention.attn2.weight"],
        "decoder.output.weight": theirs["decoder.linear_1.weight"],
        "decoder.output.bias": theirs["decoder.linear_1.bias"],
    }
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        ours[f"encoder.forward_lstm.{name}"] = theirs[f"encoder.rnn.{name}"]
        ours[f"encoder.backward_lstm.{name}"] = theirs[f"encoder.rnn.{name}_reverse"]
    model = assemble(ours["embedding.weight"], partial(LSTM, hidden=128), Additive, outputs=2)
    model.load_state_dict(ours)
    return model.eval()


def _test_set() -> Batch:
    arrays = _arrays("test_set.npz")
    documents = [
        tokens[1:-1].tolist() for tokens in np.split(arrays["tokens"], arrays["offsets"][1:-1])
    ]
    return collate(documents, arrays["y"].tolist(), list(range(len(documents))))


@dataclass
class Ours:
    """What our code computes: [N], [N, T] or [N, K], T the longest sentence."""

    mask: torch.Tensor
    probability: torch.Tensor
    attention: torch.Tensor
    gradient: torch.Tensor
    leave_one_out: torch.Tensor
    permuted: torch.Tensor
    median: torch.Tensor
    adversarial: torch.Tensor
    eps_max_jsd: torch.Tensor
    optimum: torch.Tensor


@pytest.fixture(scope="module")
def ours() -> Ours:
    model, whole = _model(), _test_set()
    index = torch.from_numpy(_arrays("permutations.npz")["perm_index"]).long()
    noise = torch.from_numpy(_arrays("adversarial.npz")["init_noise"]).nan_to_num()
    columns: dict[str, list[torch.Tensor]] = {name: [] for name in Ours.__annotations__}
    for start in range(0, len(whole), ROWS):
        batch = whole.rows(slice(start, start + ROWS))
        part = _measure(model, batch, index[start : start + ROWS], noise[start : start + ROWS])
        for name, value in vars(part).items():
            columns[name].append(value)
    return Ours(**{name: torch.cat(parts) for name, parts in columns.items()})


def _measure(model: AttentionModel, batch: Batch, index: torch.Tensor, noise: torch.Tensor) -> Ours:
    with torch.no_grad():
        encoding = model.encode(batch)
        attention, projection = model.attend(encoding), model.project(encoding)
    decode = Decoding(model.decoder, projection)
    permuted = permutation(decode, attention, batch.mask, batch.ids, index=index)
    found = adversarial_search(
        decode,
        attention,
        batch.mask,
        batch.ids,
        Search(objective="program", epsilon=0.05),
        noise=noise,
    )
    return Ours(
        mask=batch.mask,
        probability=decode(attention[:, None])[:, 0, 1].detach(),
        attention=attention,
        gradient=signed_gradient(model, batch),
        leave_one_out=leave_one_out(model, batch),
        permuted=permuted.outputs[..., 1],
        median=permuted.median,
        adversarial=found.outputs[..., 1],
        eps_max_jsd=found.eps_max_jsd,
        optimum=exact_adversary(
            projection.values[..., 0], projection.offset[:, 0], attention, batch.mask, [0.01, 0.05]
        ).jsd,
    )


def _on_mask(ours: Ours, name: str, theirs: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    kept = ours.mask
    return getattr(ours, name)[kept].double(), torch.from_numpy(theirs)[kept].double()


def test_predictions(ours):
    theirs = torch.from_numpy(_arrays("evaluate.npz")["yhat"][:, 0]).double()
    torch.testing.assert_close(ours.probability, theirs, rtol=0, atol=1e-5)


def test_attention(ours):
    found, theirs = _on_mask(ours, "attention", _arrays("evaluate.npz")["attention"])
    torch.testing.assert_close(found, theirs, rtol=0, atol=1e-5)
    assert (ours.attention[~ours.mask] == 0).all()


def test_gradients(ours):
    found, theirs = _on_mask(ours, "gradient", _arrays("gradients.npz")["XxE_X"][:, 0])
    torch.testing.assert_close(found, theirs, rtol=0, atol=1e-5)


def test_leave_one_out(ours):
    moved = np.abs(_arrays("loo.npz")["loo_output"][:, 0] - _arrays("evaluate.npz")["yhat"])
    found, theirs = _on_mask(ours, "leave_one_out", moved)
    torch.testing.assert_close(found, theirs, rtol=0, atol=1e-5)


def test_permutations(ours):
    theirs = torch.from_numpy(_arrays("permutations.npz")["perm_output"][..., 0])
    torch.testing.assert_close(ours.permuted, theirs, rtol=0, atol=1e-5)
    # Its summary.json: the mean and the median over sentences of the median TVD.
    assert ours.median.mean() == pytest.approx(0.07455066114, abs=1e-6)
    assert np.median(ours.median) == pytest.approx(0.04941172898, abs=1e-6)


def test_adversarial_outputs(ours):
    theirs = torch.from_numpy(_arrays("adversarial.npz")["adv_output"][..., 0]).double()
    torch.testing.assert_close(ours.adversarial, theirs, rtol=0, atol=1e-3)
    path = Path(FOLDER, "sst+lstm+additive", "eps_max_jsd_0.05.npy")
    np.testing.assert_allclose(ours.eps_max_jsd, np.load(path), rtol=0, atol=1e-3)


@pytest.mark.parametrize(("column", "epsilon"), [(0, "0.01"), (1, "0.05")])
def test_the_exact_optimum_is_beyond_what_its_search_found(ours, column, epsilon):
    theirs = np.load(Path(FOLDER, "sst+lstm+additive", f"eps_max_jsd_{epsilon}.npy"))
    found = ours.optimum[:, column].numpy()
    assert (found >= theirs - 1e-4).all()  # its float32 output is the looser bound, by 1e-5
    if epsilon == "0.01":
        assert found.mean() == pytest.approx(0.619, abs=1e-3)
        assert theirs.mean() == pytest.approx(0.488, abs=1e-3)
        assert (found > 0.6).mean() == pytest.approx(0.745, abs=5e-3)
        assert (theirs > 0.6).mean() == pytest.approx(0.14, abs=5e-3)
    # At 0.05 with its own search again, in our hands.
    else:
        assert (found >= ours.eps_max_jsd.numpy() - 1e-4).all()


def _table(name: str) -> dict[str, tuple[float, float, str]]:
    path = Path(FOLDER or "", "sst+lstm+additive", "tables", f"{name}_kendalltau.csv")
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {row[""]: (float(row["mean"]), float(row["std"]), row["pval_sig"]) for row in rows}


@pytest.fixture(scope="module")
def taus(ours) -> dict[str, Tau]:
    attention, moved = ours.attention, ours.leave_one_out
    gradient = ours.gradient.abs()
    return {
        "ag": kendall_tau(attention, moved, ours.mask),  # its labels: g is leave-one-out here,
        "al": kendall_tau(attention, gradient, ours.mask),  # and l is the gradient
        "gl": kendall_tau(gradient, moved, ours.mask),
    }


def _agrees(tau: np.ndarray, row: tuple[float, float, str]) -> bool:
    found = summarise(tau, seed=0)
    # 1e-4: a difference in the seventh digit makes or breaks a tie in some sentences.
    return (found.mean, found.std) == pytest.approx(row[:2], abs=1e-4)


@pytest.mark.parametrize("name", ["ag", "al", "gl"])
def test_its_table_of_correlations(taus, name):
    row = _table("CorrStats")[name]
    assert _agrees(taus[name].tau, row)
    assert f"{sig_frac(taus[name].pvalue):.2f}" == row[2]


@pytest.mark.parametrize(("name", "table"), [("al", "GradientPval"), ("ag", "pyxc-pyc_pval")])
def test_its_tables_by_predicted_class(ours, taus, name, table):
    predicted = (ours.probability > 0.5).numpy()
    rows = _table(table)
    kept = {"Overall": predicted >= 0, "0": predicted == 0, "1": predicted == 1}
    for group, chosen in kept.items():
        assert _agrees(taus[name].tau[chosen], rows[group]), group
        assert f"{sig_frac(taus[name].pvalue[chosen]):.2f}" == rows[group][2]


@pytest.mark.parametrize(("name", "table"), [("ag", "CorrGL-AG"), ("al", "CorrGL-AL")])
def test_its_tables_of_gaps(taus, name, table):
    assert _agrees(taus["gl"].tau - taus[name].tau, _table(table)["Overall"])
