"use strict";
// Chooses the quantity of the grid, and opens a cell by the address's fragment.

const COLUMNS = [
  "quantity", "meaning", "class", "value or mean", "95 % interval", "std", "share p≤.05", "n",
  "published", "difference",
];
const quantity = document.getElementById("quantity");
const panel = document.getElementById("cell");
// What opened the cell, where a reader who closes it goes on.
let opener = null;
// An address may come from anybody: only what the page itself names is loaded.
const links = new Set(Array.from(document.querySelectorAll("a"), (a) => a.getAttribute("href")));

function chooseGrid() {
  for (const grid of document.querySelectorAll(".grid")) {
    grid.hidden = grid.id !== `grid-${quantity.value}`;
  }
}

function numbersTable(label, lines) {
  const used = COLUMNS.map((_, column) => lines.some((row) => row[column]));
  const kept = (row) => row.slice(0, COLUMNS.length).map((text, column) =>
    (COLUMNS[column] === "meaning" && row !== COLUMNS ? element("td", { class: "text" }, text) : text))
    .filter((_, column) => used[column]);
  const rows = lines.map((row) => {
    const entries = kept(row);
    const size = row[COLUMNS.length];
    return size ? [...entries.slice(0, -1), element("td", { class: size }, entries.at(-1))] : entries;
  });
  return tableOf(label, kept(COLUMNS), rows);
}

function numbers({ name, first, rows }) {
  const place = element("details", {}, element("summary", {}, name),
    numbersTable(`Numbers: ${name}`, rows));
  place.open = first;
  return place;
}

function verdictList(verdict) {
  const parts = [];
  let condition = null;
  for (const line of verdict) {
    if (line.condition !== condition) {
      condition = line.condition;
      parts.push(element("h4", {}, `Condition: ${condition}`), element("ul"));
    }
    const beside = line.published ? ` Published: ${line.published} (${line.source}).` : "";
    parts.at(-1).append(element("li", {}, line.sentence + beside));
  }
  return parts;
}

function cellPanel(data) {
  const about = data.about.flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, value)]);
  const parts = [element("h2", {}, data.title), element("dl", { class: "about" }, ...about)];
  if (data.state !== "done") {
    parts.push(element("p", { class: "alarm" }, `${data.state}${data.why ? `: ${data.why}` : ""}`));
  }
  if (data.state === "done") {
    const plots = `plots.html#${encodeURIComponent(data.dataset)}//${encodeURIComponent(data.key)}`;
    const instances = `instances.html#${encodeURIComponent(data.key)}`;
    parts.push(element("p", {}, "See its ", element("a", { href: plots }, "plots"), " beside those of "
      + "the other models, and its ", element("a", { href: instances }, "instances"), "."));
  }
  if (data.unlike) parts.push(element("p", { class: "note" }, data.unlike));
  if (data.verdict.length) {
    parts.push(element("h3", {}, "Verdict: what would have to hold, and what was measured"));
    parts.push(...verdictList(data.verdict));
  }
  if (data.numbers.length) parts.push(element("h3", {}, "Numbers"), ...data.numbers.map(numbers));
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => { location.hash = ""; opener?.focus(); });
  return [...parts, close];
}

async function openCell() {
  const key = fragment().join("/");
  panel.hidden = !key;
  if (!key) return;
  if (document.activeElement.hash === location.hash) opener = document.activeElement;
  panel.replaceChildren(element("p", {}, "Loading …"));
  const said = links.has(`#${key}`) ? cellPanel(await load("cells", key))
    : [element("p", { class: "alarm" }, `No cell ${key} in this report.`)];
  panel.replaceChildren(...said);
  panel.scrollIntoView();
  panel.focus({ preventScroll: true });
}

quantity.addEventListener("change", chooseGrid);
addEventListener("hashchange", openCell);
chooseGrid();
openCell();
