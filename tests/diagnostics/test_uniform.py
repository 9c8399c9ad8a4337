from attention_audit.diagnostics import fit_plain, fit_uniform

UNIFORM = {"_target_": "attention_audit.models.attentions.Uniform", "name": "uniform"}
ENCODER = {"_target_": "attention_audit.models.encoders.LSTM", "hidden": 7, "name": "lstm"}


def test_uniform_changes_the_attention_alone(noted):
    fit = noted()
    fit_uniform(fit, UNIFORM)
    assert fit.asked == [{"role": "uniform", "change": {"attention": UNIFORM}, "given": None}]


def test_plain_puts_the_encoders_summary_in_the_place_of_all_states(noted):
    fit = noted()
    fit_plain(fit, ENCODER, UNIFORM)
    [asked] = fit.asked
    assert asked["role"] == "plain"
    assert asked["given"] is None
    inner = {"_target_": ENCODER["_target_"], "hidden": 7, "_partial_": True}
    target = "attention_audit.models.encoders.Summarised"
    encoder = {"_target_": target, "of": inner, "name": "lstm_summary"}
    assert asked["change"] == {"encoder": encoder, "attention": UNIFORM}
    assert ENCODER["name"] == "lstm", "the base's configuration stays as it is"
