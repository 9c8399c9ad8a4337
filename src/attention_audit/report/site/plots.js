"use strict";
// Draws the plots of a corpus's cells side by side, as the address's fragment says.

const dataset = document.getElementById("dataset");
const analysis = document.getElementById("analysis");
const place = document.getElementById("plots");
const siblings = document.getElementById("siblings");
const said = document.getElementById("said");
const darkness = matchMedia("(prefers-color-scheme: dark)");
// What is drawn is of the latest choice, though an older one may still be loading.
let latest = 0;

const distinct = (values) => Array.from(new Set(values));
const named = (cell) => `${cell.encoder} + ${cell.attention}`;

function unpacked({ columns, rows }) {
  const filled = (row) => columns.map((name, n) => [name, row[n]]).filter(([, v]) => v !== null);
  return rows.map((row) => Object.fromEntries(filled(row)));
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  const text = { labelColor: ink, titleColor: ink };
  return {
    background: null,
    view: { stroke: line },
    axis: { ...text, gridColor: line, domainColor: line, tickColor: line, titleFontWeight: "normal" },
    legend: { ...text, titleFontWeight: "normal" },
    title: { color: ink, subtitleColor: ink },
    text: { color: ink },
    rule: { color: ink },
    font: 'system-ui, "Noto Sans", sans-serif',
  };
}

function panelOf(cell) {
  const title = cell.key ? element("a", { href: `index.html#${cell.key}` }, named(cell)) : named(cell);
  const score = cell.score ? ` ${cell.score}` : "";
  const body = element("div", { class: "drawn" });
  const panel = element("figure", { class: "panel" },
    element("figcaption", {}, title, element("span", { class: "score" }, score)), body);
  return { panel, body };
}

async function draw(chart, cell, drawn, ends, body, panel) {
  const spec = {
    ...chart.drawn,
    params: [{ name: "low", value: ends.low }, { name: "top", value: ends.top }],
    datasets: { ...chart.drawn.datasets, cell: unpacked(drawn) },
  };
  const label = `${chart.title}: ${cell.dataset}, ${named(cell)}`;
  const { view } = await vegaEmbed(body, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    renderer: "svg",
    config: colours(),
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  // One picture, which Vega made a document: its hundreds of marks would be read one by one.
  for (const [name, value] of [["role", "img"], ["aria-label", label]]) body.setAttribute(name, value);
  if (drawn.note) panel.append(element("p", { class: "note" }, drawn.note));
  const name = `${cell.key}_${chart.name}`;
  panel.append(saveButtons(name, {
    SVG: async () => save(`${name}.svg`, asFile(await view.toSVG(), "image/svg+xml")),
    PNG: async () => save(`${name}.png`, await view.toImageURL("png", 3)),
    CSV: () => save(`${name}.csv`, asFile(commaSeparated([drawn.columns, ...drawn.rows]), "text/csv")),
  }), numbersOf(label, () => [drawn.columns,
    drawn.rows.map((row) => row.map((value) => String(value ?? "")))]));
}

// Why a place of the matrix is empty.
function absence(cell, hasPlots) {
  if (!cell.key) return "missing";
  if (!hasPlots) return cell.why ? `${cell.state}: ${cell.why}` : cell.state;
  return "not measured";
}

// The ends of the axis that the plots share.
function endsOf(chart, drawn) {
  const values = drawn.flatMap((one) => unpacked(one)
    .flatMap((row) => chart.shared.map((name) => row[name]))).filter((value) => value !== undefined);
  return values.length ? { low: Math.min(...values), top: Math.max(...values) } : { low: 0, top: 1 };
}

// Of encoders and attentions those that have a plot: what is missing among them is a place of the
// matrix, what is missing beside them is named below.
function placed(cells, isDrawn) {
  const has = (part, cell) => cells.some((other) => other[part] === cell[part] && isDrawn(other));
  const inside = cells.filter((cell) => has("encoder", cell) && has("attention", cell));
  return [inside, cells.filter((cell) => !inside.includes(cell))];
}

async function section(chart, cells, data) {
  const of = cells.filter((cell) => !chart.encoder || cell.encoder === chart.encoder);
  const found = (cell) => data.get(cell.key)?.[chart.name];
  const drawnOf = (cell) => (found(cell)?.fault ? undefined : found(cell));
  const reason = (cell) => found(cell)?.fault ?? absence(cell, data.has(cell.key));
  const [inside, beside] = placed(of, drawnOf);
  place.append(element("h2", {}, chart.title));
  if (inside.length) {
    const grid = element("div", { class: "matrix" });
    grid.style.setProperty("--columns", distinct(inside.map((cell) => cell.encoder)).length);
    place.append(element("p", { class: "note" }, chart.about), grid);
    await fill(grid, chart, inside, drawnOf, reason);
  }
  for (const why of distinct(beside.map(reason))) {
    const others = beside.filter((cell) => reason(cell) === why).map(named).join(", ");
    place.append(element("p", { class: "note" }, `No plot of ${others}: ${why}.`));
  }
}

async function fill(grid, chart, cells, drawnOf, reason) {
  const turn = latest;
  const ends = endsOf(chart, cells.map(drawnOf).filter(Boolean));
  for (const cell of cells) {
    const { panel, body } = panelOf(cell);
    grid.append(panel);
    const drawn = drawnOf(cell);
    if (drawn) await draw(chart, cell, drawn, ends, body, panel);
    else body.append(element("p", { class: "missing" }, reason(cell)));
    if (turn !== latest) return;
  }
}

const ENCODERS = ["lstm", "cnn", "average"];
const byOrder = (order) => (one, other) => rank(order, one) - rank(order, other);
const rank = (order, name) => (order.includes(name) ? order.indexOf(name) : order.length);

// Of models with several cells the one that the reader has chosen, by its key.
const picked = new Set();

function pick(cells, key) {
  const one = cells.find((cell) => cell.key === key);
  if (!one) return;
  siblingsOf(cells, one).forEach((cell) => picked.delete(cell.key));
  picked.add(key);
}

function siblingsOf(cells, one) {
  return cells.filter((cell) => ["dataset", "encoder", "attention"]
    .every((part) => cell[part] === one[part]));
}

// A choice for each of the models that have several cells.
function offerSiblings(cells, matrix, again) {
  const several = matrix.filter((cell) => cell.apart);
  const selects = () => Array.from(siblings.querySelectorAll("select"));
  const held = selects().indexOf(document.activeElement);
  siblings.replaceChildren(...several.map((cell) => {
    const select = element("select", {}, ...siblingsOf(cells, cell).map((one) =>
      element("option", { value: one.key }, one.apart)));
    select.value = cell.key;
    select.addEventListener("change", () => { pick(cells, select.value); again(); });
    return element("label", {}, `${named(cell)} `, select);
  }));
  // They are new ones: a reader with a keyboard goes on at the same.
  selects()[held]?.focus();
}

function matrixOf(cells, chosen) {
  const own = cells.filter((cell) => cell.dataset === chosen);
  const encoders = distinct(own.map((cell) => cell.encoder)).sort(byOrder(ENCODERS));
  const attentions = distinct(own.map((cell) => cell.attention)).sort();
  return attentions.flatMap((attention) => encoders.map((encoder) => {
    const some = own.filter((cell) => cell.encoder === encoder && cell.attention === attention);
    return some.find((cell) => picked.has(cell.key)) ?? some[0]
      ?? { dataset: chosen, encoder, attention };
  }));
}

async function show(cells, charts) {
  const turn = ++latest;
  const matrix = matrixOf(cells, dataset.value);
  const own = matrix.filter((cell) => cell.apart && picked.has(cell.key)).map((cell) => cell.key);
  location.replace(`#${[dataset.value, analysis.value, ...own].map(encodeURIComponent).join("/")}`);
  offerSiblings(cells, matrix, () => show(cells, charts));
  const done = matrix.filter((cell) => cell.state === "done");
  const loaded = await Promise.all(done.map((cell) => load("plots", cell.key)));
  if (turn !== latest) return;
  const data = new Map(done.map((cell, n) => [cell.key, loaded[n]]));
  place.replaceChildren();
  place.dataset.state = "drawing";
  for (const chart of charts[analysis.value].charts) {
    await section(chart, matrix, data);
    if (turn !== latest) return;
  }
  place.dataset.state = "drawn";
  const count = place.querySelectorAll(".drawn svg").length;
  said.textContent = `${dataset.value}, ${analysis.value}: `
    + (count === 1 ? "1 plot." : `${count} plots.`);
}

function choose(cells) {
  const [corpus, wanted, ...keys] = fragment();
  keys.forEach((key) => pick(cells, key));
  for (const [select, value] of [[dataset, corpus], [analysis, wanted]]) {
    const found = Array.from(select.options, (option) => option.value).includes(value);
    select.value = found ? value : select.options[0]?.value ?? "";
  }
}

async function start() {
  const [cells, charts] = await Promise.all([load("data", "cells"), load("data", "charts")]);
  const some = distinct(cells.filter((cell) => cell.state === "done").map((cell) => cell.dataset));
  dataset.replaceChildren(...some.map((name) => element("option", {}, name)));
  analysis.replaceChildren(...Object.entries(charts).map(([name, { question }]) =>
    element("option", { value: name }, `${name}: ${question}`)));
  if (!some.length) {
    place.append(element("p", { class: "note" }, "No cell is done yet: there is nothing to draw."));
    return;
  }
  const again = () => show(cells, charts);
  choose(cells);
  dataset.addEventListener("change", again);
  analysis.addEventListener("change", again);
  darkness.addEventListener("change", again);
  addEventListener("hashchange", () => {
    const state = () => [dataset.value, analysis.value, ...picked].join();
    const before = state();
    choose(cells);
    if (state() !== before) again();
  });
  await again();
}

start();
