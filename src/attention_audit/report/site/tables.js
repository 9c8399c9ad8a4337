"use strict";
// Tables that a page makes of what it loads.

// A table that scrolls in its place. An entry is text, a node, or a whole cell; the first of a row
// names the row.
function tableOf(label, heads, rows, kind = "") {
  const cell = (name, attributes, entry) =>
    (entry instanceof HTMLTableCellElement ? entry : element(name, attributes, entry));
  const head = heads.map((entry) => cell("th", { scope: "col" }, entry));
  const body = rows.map((row) => (row instanceof HTMLTableRowElement ? row
    : element("tr", {}, ...row.map((entry, n) =>
      (n ? cell("td", {}, entry) : cell("th", { scope: "row" }, entry))))));
  const table = element("table", { class: `compared ${kind}`.trim() },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  return element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": label },
    table);
}

// The same behind a word, made when it is asked for.
function numbersOf(label, make) {
  const place = element("details", {}, element("summary", {}, "The same numbers as a table"));
  place.addEventListener("toggle", () => place.append(tableOf(label, ...make())), { once: true });
  return place;
}
