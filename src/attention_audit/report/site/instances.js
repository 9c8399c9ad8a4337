"use strict";
// A table of a cell's instances, and one of them as the address's fragment says: #cell/id.

const chosen = document.getElementById("chosen");
const word = document.getElementById("word");
const predicted = document.getElementById("predicted");
const right = document.getElementById("right");
const said = document.getElementById("said");
const place = document.getElementById("table");
const panel = document.getElementById("instance");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const SPELT = {
  id: "instance", label: "label", prediction: "predicted", length: "words",
  max_attention: "largest attention", entropy: "entropy (nats)",
  tau_gradient: "tau(attention, gradient)", tau_loo: "tau(attention, leave-one-out)",
  tau_gradient_loo: "tau(gradient, leave-one-out)",
  delta_y_med: "output change, permuted (TVD)", eps_max_jsd: "largest JSD, search (nats)",
  eps_max_jsd_exact: "largest JSD, exact (nats)", eps_max_jsd_found: "largest JSD, found (nats)",
};
const WHOLE = new Set(["id", "length"]);
const CLASSES = new Set(["label", "prediction"]);
let cells = [];
let data = null;
let order = { column: "id", descending: false };

const nameOf = (klass) => data.classes[klass] ?? String(klass);

function written(name, value) {
  if (value === null) return "undefined";
  if (CLASSES.has(name)) return nameOf(value);
  return WHOLE.has(name) ? String(value) : value.toFixed(3);
}

// -- the table

function kept() {
  const wanted = word.value.trim().toLowerCase();
  const { label, prediction } = data.numbers;
  const read = (row) => [...data.words[row], ...(data.queries?.[row] ?? [])];
  const fits = (row) =>
    (!wanted || read(row).some((one) => one.toLowerCase() === wanted))
    && (predicted.value === "" || String(prediction[row]) === predicted.value)
    && (right.value === "" || Number(label[row] === prediction[row]) === Number(right.value));
  const rows = data.words.map((_, row) => row).filter(fits);
  const values = data.numbers[order.column];
  const sign = order.descending ? -1 : 1;
  // What is undefined comes last, either way.
  return rows.sort((one, other) => (values[one] === null) - (values[other] === null)
    || sign * (values[one] - values[other]) || one - other);
}

function headOf(name) {
  const button = element("button", { type: "button" }, SPELT[name] ?? name);
  button.addEventListener("click", () => {
    order = { column: name, descending: order.column === name && !order.descending };
    fillTable();
    place.querySelector("[aria-sort] button")?.focus();
  });
  const head = element("th", { scope: "col" }, button);
  if (order.column === name) {
    head.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
  }
  return head;
}

function rowOf(names, row) {
  const id = data.numbers.id[row];
  const link = element("a", { href: `#${chosen.value}/${id}` }, String(id));
  const begun = (words) => words.slice(0, 6).join(" ") + (words.length > 6 ? " …" : "");
  const texts = [data.words, ...(data.queries ? [data.queries] : [])].map((all) =>
    element("td", { class: "text" }, element("bdi", {}, begun(all[row]))));
  const entries = names.slice(1).map((name) =>
    element("td", {}, written(name, data.numbers[name][row])));
  const made = element("tr", {}, element("th", { scope: "row" }, link),
    ...texts, ...entries);
  made.addEventListener("click", () => { location.hash = link.hash; });
  return made;
}

function fillTable() {
  const names = Object.keys(data.numbers);
  const rows = kept();
  const [id, ...others] = names.map(headOf);
  const texts = ["text", ...(data.queries ? [data.asks] : [])].map((name) =>
    element("th", { scope: "col" }, name));
  place.replaceChildren(tableOf("Instances", [id, ...texts, ...others],
    rows.map((row) => rowOf(names, row)), "instances"));
  said.textContent = `${rows.length} of ${data.words.length} instances, which lie evenly in the `
    + `${data.total.toLocaleString("en")} of the test split. The largest JSD is that of an attention `
    + "that keeps the output within epsilon"
    + `${data.epsilon === null ? "" : `, ${data.epsilon} (TVD)`}.`;
  markOpened();
}

// The link of the instance that is open, if the table shows it.
function markOpened() {
  const [, id] = fragment();
  let link = null;
  for (const one of place.querySelectorAll("tbody a")) {
    one.removeAttribute("aria-current");
    if (one.textContent === id) link = one;
  }
  link?.setAttribute("aria-current", "true");
  return link;
}

// -- one instance

function highlights(words, values, largest, signed) {
  const ground = darkness.matches ? "dark" : "light";
  return words.flatMap((text, n) => {
    const value = values[n];
    const number = value === null ? "undefined" : value.toFixed(3);
    const mark = element("span", { class: "word", title: number }, element("bdi", {}, text),
      element("span", { class: "unseen" }, ` ${number} `));
    if (value !== null) {
      const { fill, ink } = colourOf(value / largest, signed, ground);
      mark.style.background = fill;
      mark.style.color = ink;
    }
    return [mark, " "];
  });
}

function layersOf(row) {
  const own = Object.entries(data.weights).map(([name, all]) => {
    const values = all[row];
    const isImportance = data.importances.includes(name);
    const largest = isImportance ? Math.max(...values.map((v) => Math.abs(v ?? 0))) || 1 : 1;
    const scale = isImportance ? `0 to ${largest.toPrecision(3)}, its largest` : "0 to 1";
    return { name, values, largest, scale, signed: false };
  });
  const best = bestAdversary(row);
  if (!best) return own;
  const less = best.values.map((value, n) => value - data.weights.attention[row][n]);
  return [...own, { name: `${best.name}, minus attention`, values: less, largest: 1, signed: true,
    scale: "-1 (orange) to 1 (blue)" }];
}

// The exact maximum where there is one, else the best found, else the search's.
function bestAdversary(row) {
  const names = Object.keys(data.weights).filter((name) => name.startsWith("adversarial"));
  const name = names.find((one) => !one.endsWith("search")) ?? names[0];
  return name ? { name, values: data.weights[name][row] } : null;
}

function textOf(row) {
  const attention = data.weights.attention[row];
  const { classes, epsilon, bias } = data;
  const logits = data.logits[row];
  return { words: data.words[row], attention, logits, bias, classes, epsilon };
}

function predictionLine(row) {
  const { label, prediction } = data.numbers;
  const before = data.probability[row];
  const spelt = (p) => p.length <= 3
    ? p.map((value, n) => `${nameOf(n)} ${value.toFixed(4)}`).join(", ") : Math.max(...p).toFixed(4);
  const parts = [`Label ${nameOf(label[row])}; predicted ${nameOf(prediction[row])} (${spelt(before)}).`];
  const best = bestAdversary(row);
  const apart = () => "attention moved by "
    + `${divergenceOf(best.values, data.weights.attention[row]).toFixed(3)} nats (JSD)`;
  if (best && data.logits) {
    const after = predictionOf(best.values, data.logits[row], data.bias);
    parts.push(`With the ${best.name}: ${spelt(after)}; output change `
      + `${distanceOf(after, before).toFixed(4)} (TVD), ${apart()}.`);
  } else if (best && data.after) {
    const [now, same, moved] = ["prediction", "probability", "tvd"].map((key) => data.after[key][row]);
    const kept = now === prediction[row] ? "" : `${nameOf(prediction[row])} `;
    parts.push(`With the ${best.name}: ${nameOf(now)} (${kept}${same.toFixed(4)}); output change `
      + `${moved.toFixed(4)} (TVD), ${apart()}.`);
  }
  return parts.join(" ");
}

function numbersTable(row, layers) {
  const number = (value) => (value === null ? "undefined" : value.toFixed(4));
  return numbersOf("Numbers of the words", () => [
    ["word", ...layers.map(({ name }) => name)],
    data.words[row].map((text, n) =>
      [element("bdi", {}, text), ...layers.map(({ values }) => number(values[n]))]),
  ]);
}

function exportsOf(row, layers) {
  const name = `${chosen.value}_${data.numbers.id[row]}`;
  const columns = ["word", ...layers.map((layer) => layer.name)];
  const rows = data.words[row].map((text, n) => [text, ...layers.map(({ values }) => values[n])]);
  const drawn = () => drawnText(data.words[row], layers);
  return saveButtons(name, {
    SVG: () => save(`${name}.svg`, asFile(drawn().svg, "image/svg+xml")),
    PNG: async () => save(`${name}.png`, await asPicture(drawn())),
    LaTeX: () => save(`${name}.tex`, asFile(asLatex(data.words[row], layers), "text/plain")),
    CSV: () => save(`${name}.csv`, asFile(commaSeparated([columns, ...rows]), "text/csv")),
  });
}

function trialOf(row) {
  const title = element("h3", {}, "Try it yourself");
  if (!data.logits) {
    return [title, element("p", { class: "note" }, "Only a linear decoder's prediction can be "
      + "computed here: this model's is not, or the store has no words' logits of it.")];
  }
  const best = bestAdversary(row);
  const trial = new Trial(textOf(row), best ? { [best.name]: best.values } : {});
  return [title, element("p", { class: "note" }, "Set a word's weight; the others keep their "
    + "proportions. The model's hidden states stay, its prediction is computed anew."),
  ...trial.panel()];
}

function showInstance(row) {
  const layers = layersOf(row);
  const shown = layers.flatMap(({ name, values, largest, scale, signed }) => [
    element("h3", {}, name, element("span", { class: "score" }, `colour: ${scale}`)),
    element("p", { class: "words", dir: "auto" },
      ...highlights(data.words[row], values, largest, signed)),
  ]);
  const asked = data.queries ? [element("p", { class: "asked" }, `The ${data.asks}: `,
    element("bdi", {}, data.queries[row].join(" ")))] : [];
  const close = element("button", { type: "button" }, "Back to the table");
  close.addEventListener("click", () => { location.hash = chosen.value; });
  panel.replaceChildren(element("h2", {}, `Instance ${data.numbers.id[row]}`), close, ...asked,
    element("p", {}, predictionLine(row)), ...shown, exportsOf(row, layers),
    numbersTable(row, layers), ...trialOf(row));
  panel.hidden = false;
  panel.scrollIntoView();
  panel.focus({ preventScroll: true });
}

// -- choices

function nothing(why) {
  place.replaceChildren();
  panel.hidden = true;
  said.textContent = why;
}

async function openCell(key) {
  data = await load("instances", key);
  if (data.absent) {
    nothing(`No instances: ${data.absent}.`);
    data = null;
    return;
  }
  const names = Array.from(new Set(data.numbers.prediction)).sort((a, b) => a - b);
  predicted.replaceChildren(element("option", { value: "" }, "any"),
    ...names.map((klass) => element("option", { value: klass }, nameOf(klass))));
  order = { column: "id", descending: false };
  fillTable();
}

let opened = null;

async function follow() {
  const [key, id] = fragment();
  const cell = cells.find((one) => one.key === key) ?? cells[0];
  if (!cell) return nothing("No cell is done yet: there is nothing to show.");
  chosen.value = cell.key;
  if (opened !== cell.key) await openCell(cell.key);
  opened = cell.key;
  const row = data && id !== undefined ? data.numbers.id.indexOf(Number(id)) : -1;
  const left = place.querySelector("[aria-current]");
  markOpened();
  if (row >= 0) return showInstance(row);
  // Where a reader who leaves the instance goes on.
  if (!panel.hidden) left?.focus();
  panel.hidden = true;
}

async function start() {
  cells = (await load("data", "cells")).filter((cell) => cell.state === "done");
  chosen.replaceChildren(...cells.map((cell) => element("option", { value: cell.key },
    `${cell.dataset}, ${cell.encoder} + ${cell.attention}${cell.apart && `, ${cell.apart}`}`)));
  chosen.addEventListener("change", () => { location.hash = chosen.value; });
  for (const control of [word, predicted, right]) {
    control.addEventListener("input", () => data && fillTable());
  }
  addEventListener("hashchange", follow);
  darkness.addEventListener("change", follow);
  await follow();
}

start();
