"""Every option composes into a configuration that its parts accept; what they do not is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.configuration import check, check_call, check_schema
from attention_audit.schema import Config

CONF = Path(__file__).resolve().parents[1] / "conf"
VECTORS = ["vectors.path=vectors.txt"]


def options(group: str) -> list[str]:
    """The options of a group, as the folder has them."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


GROUPS = [
    path.name
    for path in sorted(CONF.iterdir())
    if path.is_dir() and path.name not in ("hydra", "recipe")
]
EVERY = [(group, option) for group in GROUPS for option in options(group)]


def needs(group: str, option: str) -> list[str]:
    """What an option must be told besides."""
    return VECTORS if group == "vectors" and option in ("glove", "fasttext") else []


def test_the_groups_are_found():
    assert {"dataset", "encoder", "attention", "analysis", "vectors", "trainer"} <= set(GROUPS)
    assert all(options(group) for group in GROUPS)


@pytest.mark.parametrize(("group", "option"), EVERY)
def test_every_option_is_accepted(composed, group, option):
    check(composed(f"{group}={option}", *needs(group, option)))


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_experiment_takes_every_cell_of_the_grid(composed, experiment):
    for group in ("dataset", "encoder", "attention", "vectors"):
        for option in options(group):
            chosen = [f"{group}={option}", *needs(group, option)]
            check(composed(f"experiment={experiment}", *chosen))


def test_every_recipe_belongs_to_an_experiment_and_an_option():
    for path in (CONF / "recipe").rglob("*.yaml"):
        group, experiment, _ = path.relative_to(CONF / "recipe").parts
        if (group, experiment) == ("pretrained", "files"):  # what the others start from
            continue
        assert experiment in options("experiment")
        groups = {"pretrained": ["dataset"], "cell": ["dataset", "encoder"]}.get(group, [group])
        for name, chosen in zip(groups, path.stem.split("+"), strict=True):
            assert chosen in options(name)


def test_a_recipe_applies_to_its_own_cell_only(composed):
    plain, paper = composed(), composed("experiment=jain_wallace")
    assert paper["dataset"]["epochs"] != plain["dataset"]["epochs"]
    assert paper["trainer"]["max_epochs"] == paper["dataset"]["epochs"]
    other = composed("experiment=jain_wallace", "dataset=planted")
    assert other["dataset"] == composed("dataset=planted")["dataset"]


def test_the_default_analyses_are_the_papers(composed):
    assert set(composed()["analysis"]) == {"correlation", "permutation", "adversarial"}


@pytest.mark.parametrize("trainer", options("trainer"))
def test_analyses_are_those_chosen_whatever_the_trainer(composed, trainer):
    groups = ("none", "paper", "wiegreffe_pinter")
    single = [name for name in options("analysis") if name not in groups]
    for chosen in ([single[0]], single[1:]):
        config = composed(f"trainer={trainer}", f"analysis=[{','.join(chosen)}]")
        assert set(config["analysis"]) == set(chosen)
    assert composed(f"trainer={trainer}", "analysis=none")["analysis"] == {}


def test_smoke_shrinks_what_is_chosen_and_nothing_else(composed):
    plain, smoke = composed(), composed("trainer=smoke")
    changed = {key for key in plain if plain[key] != smoke[key]}
    assert changed == {"trainer", "limits", "budget", "diagnostics", "analysis"}
    assert smoke["trainer"] | {"max_epochs": 0} == plain["trainer"] | {"max_epochs": 0}
    assert smoke["analysis"]["permutation"]["permutations"] == smoke["budget"]["permutations"]
    assert composed("trainer=smoke", "trainer.max_epochs=7")["trainer"]["max_epochs"] == 7


FAULTS = [
    (
        ["+encoder.hiden=3"],
        "encoder.hiden: unknown (did you mean 'hidden'?); expected one of hidden",
    ),
    (["+encoder.embedding=3"], "encoder.embedding: unknown; expected one of hidden"),
    (["+trainer.max_epoch=3"], "trainer.max_epoch: unknown (did you mean 'max_epochs'?)"),
    (["+training.lr=1"], "training.lr: unknown; expected one of amsgrad"),
    (["+encodr=x"], "encodr: unknown (did you mean 'encoder'?)"),
    (["+limits.tran=1"], "limits.tran: unknown (did you mean 'train'?)"),
    (["+logger.modus=1"], "logger.modus: unknown (did you mean 'mode'?)"),
    (["+dataset.text.min_fd=1"], "dataset.text.min_fd: unknown (did you mean 'min_df'?)"),
    (["+dataset.sources.1.sed=1"], "dataset.sources[1].sed: unknown (did you mean 'seed'?)"),
    (["+analysis.permutation.permutation=1"], "(did you mean 'permutations'?)"),
    (["seed=-1"], "seed: found -1"),
    (["threads=0"], "threads: found 0"),
    (["trainer.max_epochs=0"], "trainer.max_epochs: found 0"),
    (["limits.test=0"], "limits.test: found 0"),
    (["logger.mode=ofline"], "logger.mode: found 'ofline': Input should be 'offline', 'online'"),
    (["training.reduction=summ"], "training.reduction: found 'summ'"),
    (["training.learning_rate=0"], "training.learning_rate: found 0"),
    (["adversary.epsilon=1.5"], "epsilon: found 1.5"),
    (["adversary.objective=papre"], "objective: found 'papre': Input should be 'paper' or"),
    (["budget.steps=0"], "steps: found 0"),
    (["dataset.text.tokenizer=spcy"], "dataset.text.tokenizer: found 'spcy'"),
    (["dataset.text.dev_fraction=1"], "dataset.text.dev_fraction: found 1"),
    (["dataset.batch_size=0"], "dataset.batch_size: found 0"),
    (["encoder=cnn", "encoder.kernels=3"], "encoder.kernels: found 3"),
    (["encoder=cnn", "encoder.filters=many"], "encoder.filters: found 'many'"),
    (["vectors=glove"], "vectors.path: not set; expected vectors.path=..."),
    (["encoder._target_=attention_audit.models.encoders.GRU"], "encoder._target_: cannot import"),
    (["~encoder._target_"], "encoder._target_: found None"),
    (["~dataset.epsilon", "adversary.epsilon=0.1"], "dataset.epsilon: missing"),
    *(
        ([f"analysis={name}", f"diagnostics.lambdas=[{found}]"], f"analysis.{name}.lambdas: {said}")
        for name in ("guided_mlp", "model_adversary")
        for found, said in (
            ("", "found []: "),
            ("-1", "found [-1.0]: "),
            ("inf", "found [inf]: "),
            ("0,0.1234567,0.12345671", "found [0.0, 0.1234567, 0.12345671]: "),
        )
    ),
    (["analysis=guided_mlp", "diagnostics.least_jsd=0.7"], "least_jsd: found 0.7: Input should be"),
    (["analysis=log_odds", "analysis.log_odds.strength=inf"], "log_odds.strength: found inf"),
]


@pytest.mark.parametrize(("overrides", "line"), FAULTS, ids=[" ".join(o) for o, _ in FAULTS])
def test_a_fault_is_named_in_one_line(composed, overrides, line):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        check(composed(*overrides))
    assert line in str(caught.value)


def test_checking_changes_nothing(composed, tmp_path):
    config = composed()
    check(config)
    assert config == composed()
    assert list(tmp_path.iterdir()) == []


def demand(width: int, *rest: int, height: int = 1, **more: int) -> None:
    """A constructor with one required argument."""


def test_a_required_argument_must_be_given_or_supplied():
    with pytest.raises(ValueError, match=r"^part\.width: missing; demand needs it$"):
        check_call("part", {}, demand)
    check_call("part", {}, demand, supplied={"width"})
    check_call("part", {"width": 3, "height": 2}, demand)
    with pytest.raises(ValueError, match="width: unknown"):
        check_call("part", {"width": 3}, demand, supplied={"width"})


def test_the_schema_knows_every_key_of_the_configuration(composed):
    config = composed()
    check_schema(config)
    assert set(config) == set(Config.__dataclass_fields__)


def test_several_devices_are_processes_of_one_program(composed):
    for strategy in ("auto", "ddp_spawn", "ddp_fork"):
        check(composed("trainer.devices=2", f"trainer.strategy={strategy}"))
    with pytest.raises(ValueError, match=r"trainer.strategy=ddp: .* for each of the 2 devices"):
        check(composed("trainer.devices=[0,1]", "trainer.strategy=ddp"))
    with pytest.raises(ValueError, match=r"trainer.devices: found 0"):
        check(composed("trainer.devices=0"))
