"use strict";
// Weights that the reader sets, and what the model would have predicted with them: a linear
// decoder reads attention as logits = weights @ token logits + bias, which the page computes.

function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

// Probabilities of all classes; two of them share one logit.
function predictionOf(weights, logits, bias) {
  const outputs = bias.map((offset, n) =>
    offset + sumOf(weights.map((weight, word) => weight * logits[word][n])));
  const whole = outputs.length === 1 ? [0, ...outputs] : outputs;
  const highest = Math.max(...whole);
  const powers = whole.map((logit) => Math.exp(logit - highest));
  return powers.map((power) => power / sumOf(powers));
}

// Total variation distance.
function distanceOf(one, other) {
  return sumOf(one.map((value, n) => Math.abs(value - other[n]))) / 2;
}

// Jensen-Shannon divergence in nats.
function divergenceOf(one, other) {
  const part = (value, n, sum) => (value > 0 ? value * Math.log((2 * value) / sum) : 0);
  const terms = one.map((value, n) =>
    part(value, n, value + other[n]) + part(other[n], n, value + other[n]));
  return Math.max(0, sumOf(terms) / 2);
}

// One word's weight is set, the others keep their proportions.
function withWeight(weights, word, value) {
  const others = sumOf(weights) - weights[word];
  const share = (1 - value) / (weights.length - 1 || 1);
  return weights.map((weight, n) => {
    if (n === word) return weights.length > 1 ? value : 1;
    return others > 0 ? (weight / others) * (1 - value) : share;
  });
}

function permuted(weights) {
  const moved = [...weights];
  for (let n = moved.length - 1; n > 0; n -= 1) {
    const other = Math.floor(Math.random() * (n + 1));
    [moved[n], moved[other]] = [moved[other], moved[n]];
  }
  return moved;
}

// The band of outputs that count as unchanged, for two classes, and where the output is.
function bandOf(now, before, epsilon) {
  const percent = (value) => `${100 * Math.min(1, Math.max(0, value))}%`;
  const band = element("div", { class: "within" });
  band.style.left = percent(before - epsilon);
  band.style.right = percent(1 - before - epsilon);
  const marks = [["before", before], ["now", now]].map(([name, value]) => {
    const mark = element("div", { class: name });
    mark.style.left = percent(value);
    return mark;
  });
  return [band, ...marks];
}

class Trial {
  // text: words, attention, logits, bias, classes, epsilon; starts: other weights, by name.
  constructor(text, starts) {
    this.text = text;
    this.before = predictionOf(text.attention, text.logits, text.bias);
    this.weights = text.attention;
    this.sliders = text.words.map((word, n) => this.#slider(word, n));
    this.readout = element("div", { class: "trial", role: "status" });
    this.band = element("div", { class: "band", "aria-hidden": "true" });
    this.starts = { "the model's attention": text.attention, ...starts };
  }

  // What the page shows.
  panel() {
    const labels = this.sliders.map(({ label }) => label);
    this.set(this.weights);
    const ends = this.before.length === 2
      ? [this.band, element("p", { class: "note ends" },
        element("span", {}, "0"), element("span", {}, `probability of ${this.#name(1)}`),
        element("span", {}, "1")), ...this.#key()] : [];
    return [
      element("p", { class: "controls" }, "Start from ", ...this.#buttons()),
      this.readout, ...ends,
      element("div", { class: "scroll tall", tabindex: "0", role: "region",
        "aria-label": "Weights of the words" }, element("div", { class: "sliders" }, ...labels)),
    ];
  }

  set(weights) {
    this.weights = weights;
    this.sliders.forEach(({ input, output }, n) => {
      input.value = weights[n];
      input.setAttribute("aria-valuetext", weights[n].toFixed(3));
      output.textContent = weights[n].toFixed(3);
    });
    this.#say();
  }

  #say() {
    const { attention, logits, bias, epsilon } = this.text;
    const now = predictionOf(this.weights, logits, bias);
    const moved = distanceOf(now, this.before);
    const within = epsilon !== null && moved <= epsilon + 1e-9;
    const rows = [
      ["prediction", this.#spelt(now), "now"],
      ["with the model's attention", this.#spelt(this.before), "before"],
      ["output change (TVD)", moved.toFixed(4), "tvd"],
      ["distance from the model's attention (JSD in nats, at most 0.693)",
        divergenceOf(this.weights, attention).toFixed(4), "jsd"],
    ];
    if (epsilon !== null) {
      rows.push([`within epsilon, ${epsilon} (TVD)`, within ? "yes: counts as unchanged" : "no", "epsilon"]);
    }
    const parts = rows.flatMap(([name, value, key]) =>
      [element("dt", {}, name), element("dd", { "data-key": key }, value)]);
    this.readout.replaceChildren(element("dl", { class: "about" }, ...parts));
    if (now.length === 2) this.band.replaceChildren(...bandOf(now[1], this.before[1], epsilon ?? 0));
  }

  // What the band's marks are.
  #key() {
    const known = [["before", "with the model's attention"], ["now", "with your weights"]];
    if (this.text.epsilon !== null) known.unshift(["within", "within epsilon of the model's"]);
    return [element("p", { class: "note" }, ...known.map(([name, said]) =>
      element("span", { class: `key ${name}` }, said)))];
  }

  #name(klass) {
    return this.text.classes[klass] ?? `class ${klass}`;
  }

  #spelt(probabilities) {
    const klass = probabilities.indexOf(Math.max(...probabilities));
    const each = probabilities.map((p, n) => `${this.#name(n)} ${p.toFixed(4)}`).join(", ");
    return `${this.#name(klass)} (${each})`;
  }

  #slider(word, n) {
    const input = element("input", { type: "range", min: "0", max: "1", step: "any" });
    const output = element("span", { class: "weight", "aria-hidden": "true" });
    const alone = element("button", { type: "button", title: "all weight on this word" }, "only");
    alone.setAttribute("aria-label", `all weight on ${word}`);
    alone.addEventListener("click", () => this.set(withWeight(this.weights, n, 1)));
    input.addEventListener("input", () => this.set(withWeight(this.weights, n, Number(input.value))));
    const label = element("div", { class: "slider" },
      element("label", {}, element("bdi", {}, word), input), output, alone);
    return { label, input, output };
  }

  #buttons() {
    const uniform = this.text.words.map(() => 1 / this.text.words.length);
    const known = Object.entries(this.starts).map(([name, weights]) => [name, () => weights]);
    const made = [["uniform", () => uniform], ["permuted", () => permuted(this.text.attention)]];
    return [...known, ...made].map(([name, weights]) => {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", () => this.set(weights()));
      return button;
    });
  }
}
