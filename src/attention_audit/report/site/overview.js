"use strict";
// Chooses the quantity of the grid, and opens a cell by the address's fragment.

const COLUMNS = [
  "quantity", "class", "value", "95 % interval", "std", "p≤.05", "n", "published", "difference",
];
const quantity = document.getElementById("quantity");
const panel = document.getElementById("cell");
// An address may come from anybody: only what the page itself names is loaded.
const links = new Set(Array.from(document.querySelectorAll("a"), (a) => a.getAttribute("href")));

function chooseGrid() {
  for (const grid of document.querySelectorAll(".grid")) {
    grid.hidden = grid.id !== `grid-${quantity.value}`;
  }
}

function numbersTable(numbers) {
  const used = COLUMNS.map((_, column) => numbers.some((row) => row[column]));
  const kept = (row) => row.slice(0, COLUMNS.length).filter((_, column) => used[column]);
  const head = element("tr", {}, ...kept(COLUMNS).map((n) => element("th", { scope: "col" }, n)));
  const rows = numbers.map((row) => {
    const [first, ...others] = kept(row);
    const entries = others.map((text) => element("td", {}, text));
    if (row[COLUMNS.length] && entries.length) entries.at(-1).className = row[COLUMNS.length];
    return element("tr", {}, element("th", { scope: "row" }, first), ...entries);
  });
  const table = element("table", { class: "compared" },
    element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { class: "scroll", tabindex: "0", role: "region",
    "aria-label": "All numbers of the cell" }, table);
}

function verdictList(verdict) {
  const parts = [];
  let condition = null;
  for (const line of verdict) {
    if (line.condition !== condition) {
      condition = line.condition;
      parts.push(element("h4", {}, `Would have to hold: ${condition}`), element("ul"));
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
    parts.push(element("h3", {}, "Verdict: what was tested, and what was measured"));
    parts.push(...verdictList(data.verdict));
  }
  if (data.numbers.length) parts.push(element("h3", {}, "Numbers"), numbersTable(data.numbers));
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => { location.hash = ""; });
  return [...parts, close];
}

async function openCell() {
  const key = fragment().join("/");
  panel.hidden = !key;
  if (!key) return;
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
