// Draws each panel's view from the numbers that the page carries.

const data = JSON.parse(document.getElementById("data").textContent);
const [low, high] = data.scale;
const MASKED = 1, PADDING = 2, GONE = -32768;
const FONT = 'system-ui, "Noto Sans", sans-serif';
const LEVELS = 255;
const ROWS = "query (rows)";
// A value that takes more room than this is not written in its cell.
const MOST_OF_A_CELL = 72;
// Above this many cells a table is only built when it is opened.
const TABLE_AT_ONCE = 2500;
const NAMES = {
  masked: "masked: attention may not go there",
  padding: "padding",
  missing: "missing or infinite",
  below: `below ${low}`,
  above: `above ${high}`,
  stray: "has a weight and should not",
};
const HINT = "Point at a cell, or go to the figure and press arrow keys, to read it here.";
const darkness = matchMedia("(prefers-color-scheme: dark)");

// -- numbers

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function unpack(level, layer, shown) {
  const view = level.views[layer][shown];
  const queries = level.query.length, keys = level.key.length;
  const [numbers, states, uniform] = await Promise.all(
    [view.numbers, level.states, level.uniform].map(inflate));
  return {
    level, view, queries, keys,
    sums: new Float32Array(numbers, 0, queries),
    entropies: new Float32Array(numbers, 4 * queries, queries),
    values: new Int16Array(numbers, 8 * queries, queries * keys),
    faults: new Uint8Array(numbers, 8 * queries + 2 * queries * keys, queries),
    states: new Uint8Array(states),
    uniform: new Float32Array(uniform),
  };
}

function valueAt(numbers, cell) {
  const packed = numbers.values[cell];
  return packed === GONE ? NaN : packed / 10 ** numbers.level.decimals;
}

// What is drawn in a cell: the name of a state, or the value's place on the scale as a number.
function kindAt(numbers, cell) {
  if (numbers.states[cell] === MASKED) return "masked";
  if (numbers.states[cell] === PADDING) return "padding";
  const value = valueAt(numbers, cell);
  if (Number.isNaN(value)) return "missing";
  if (value < low - data.tolerance) return "below";
  if (value > high + data.tolerance) return "above";
  return Math.round(LEVELS * Math.min(1, Math.max(0, (value - low) / (high - low))));
}

// A row without the fault may have traces of rounding, or be a padded query's own.
function isStray(numbers, cell) {
  const fault = data.strays[numbers.states[cell]];
  const value = numbers.values[cell];
  return Boolean(fault & numbers.faults[Math.floor(cell / numbers.keys)]) && value !== 0 &&
    value !== GONE;
}

function faultsOf(numbers, query) {
  return data.faults.filter((_, bit) => numbers.faults[query] & (1 << bit));
}

function written(value, decimals) {
  if (Number.isNaN(value)) return "–";
  if (Math.abs(value) >= data.long) return value.toExponential(3);
  return value.toFixed(Math.max(0, decimals));
}

// The number in a cell of the figure, without decimals that the page does not know.
function shortText(numbers, cell) {
  if (kindAt(numbers, cell) === "missing") return "?";
  return written(valueAt(numbers, cell), Math.min(data.decimals, numbers.level.decimals));
}

function cellText(numbers, cell) {
  const kind = kindAt(numbers, cell);
  const value = written(valueAt(numbers, cell), numbers.level.decimals);
  if (kind === "missing") return "missing";
  if (kind !== "masked" && kind !== "padding") return value;
  return isStray(numbers, cell) ? `${kind}, yet ${value}` : kind;
}

// Of a view that seems empty, whatever it holds.
function paleness(numbers) {
  const largest = numbers.values.reduce((found, _, cell) => {
    const value = numbers.states[cell] ? NaN : valueAt(numbers, cell);
    return value > found ? value : found;
  }, -Infinity);
  const share = (largest - low) / (high - low);
  if (!(share > 0 && share < data.pale)) return "";
  const said = Number(largest.toPrecision(2));
  return `The largest weight drawn is ${said}: on a scale from ${low} to ${high} all look alike.`;
}

// -- colours

function colourOf(step) {
  return between(darkness.matches ? RAMPS.dark : RAMPS.light, step / LEVELS);
}

// -- text

const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, size) {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
}

function shortened(text, size, room) {
  if (widthOf(text, size) <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && widthOf(letters.join("") + "…", size) > room) letters.pop();
  return letters.join("") + "…";
}

// Isolated, so that a token's script does not reorder what stands beside it.
const isolated = (token) => `\u2068${token}\u2069`;

function label(position, token, size, room) {
  return `${position} ${isolated(shortened(token, size, room - widthOf(`${position} `, size)))}`;
}

function wrapped(text, size, room) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && widthOf(longer, size) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// -- elements

function element(name, attributes = {}, text = null) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}

function shape(parent, name, attributes, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

// -- the drawing

function measure(numbers, room) {
  const { level, queries, keys } = numbers;
  const size = keys > 40 || queries > 60 ? 10 : 12;
  const labels = (tokens) => tokens.map((token, n) => `${n} ${token}`);
  const widest = (texts) => Math.min(150, Math.max(...texts.map((text) => widthOf(text, size))));
  const rowLabel = widest(labels(level.query)), columnLabel = widest(labels(level.key));
  const faulty = [...numbers.faults.keys()].filter((query) => numbers.faults[query]);
  const problem = Math.max(0, ...faulty.map((q) => widthOf(faultsOf(numbers, q).join(", "), size)));
  const left = 22 + rowLabel + 8;
  const column = Math.max(56, widest([...numbers.sums].map((sum) => written(sum, 3))) + 12);
  const right = 3 * column + (faulty.length ? problem + 16 : 0);
  const few = keys <= 40 && queries <= 60;
  const values = few ? [...numbers.values.keys()].map((cell) => shortText(numbers, cell)) : [];
  const needed = Math.max(36, ...values.map((text) => widthOf(text, 11) + 8));
  const fits = few && needed <= MOST_OF_A_CELL;
  const width = fits ? Math.max(needed, Math.min(72, (room - left - right) / keys)) : 12;
  const height = fits ? 28 : 12;
  const upright = columnLabel > width - 4;
  const top = 24 + (upright ? columnLabel + 6 : 18), bottom = top + queries * height;
  // The name of the rows is longer than one or two rows are high.
  const half = widthOf(ROWS, 13) / 2 + 4;
  const middle = Math.max(half, top + Math.min((bottom - top) / 2, 150));
  return {
    size, left, top, width, height, upright, columnLabel, rowLabel, valuesFit: fits,
    right, column, bottom, middle, foot: Math.max(bottom, middle + half),
    end: left + keys * width, gap: fits ? 1 : 0.5,
  };
}

function draw(panel, numbers) {
  const box = panel.find(".drawing");
  const at = measure(numbers, box.clientWidth || 320);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-label",
    `Heatmap, ${numbers.view.title}. Arrow keys read cell by cell; a table has the same numbers.`);
  addPatterns(svg, panel.number);
  shape(svg, "rect", {
    x: at.left, y: at.top, width: at.end - at.left, height: at.bottom - at.top, fill: "var(--grid)",
  });
  const present = drawCells(svg, numbers, at, panel.number);
  drawAxes(svg, numbers, at);
  drawRowNumbers(svg, numbers, at);
  const width = Math.max(at.end + at.right, 300);
  const legendRoom = Math.max(280, Math.min(width, box.clientWidth || 320));
  const height = drawLegend(svg, present, at.foot + 14, legendRoom, panel.number);
  const marker = shape(svg, "rect", {
    width: at.width, height: at.height, fill: "none", stroke: "var(--focus)", "stroke-width": 3,
    visibility: "hidden", class: "marker",
  });
  svg.setAttribute("width", Math.ceil(width));
  svg.setAttribute("height", Math.ceil(height));
  svg.setAttribute("viewBox", `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`);
  box.replaceChildren(svg);
  panel.find(".wide").hidden = svg.clientWidth <= box.clientWidth;
  listen(panel, svg, marker, numbers, at);
}

function addPatterns(svg, number) {
  const patterns = {
    masked: "M0,6 L6,0 M-1,1 L1,-1 M5,7 L7,5",
    padding: "M0,0 L6,6 M0,6 L6,0",
  };
  const definitions = shape(svg, "defs", {});
  for (const [name, lines] of Object.entries(patterns)) {
    const pattern = shape(definitions, "pattern", {
      id: `${name}-${number}`, width: 6, height: 6, patternUnits: "userSpaceOnUse",
    });
    shape(pattern, "rect", { width: 6, height: 6, fill: "var(--masked)" });
    shape(pattern, "path", { d: lines, stroke: "var(--hatch)", "stroke-width": 1 });
  }
  const ramp = shape(definitions, "linearGradient", { id: `ramp-${number}` });
  for (let n = 0; n <= 8; n++) {
    const colour = `rgb(${colourOf((n / 8) * LEVELS)})`;
    shape(ramp, "stop", { offset: n / 8, "stop-color": colour });
  }
}

function fillOf(kind, number) {
  if (typeof kind === "number") return `rgb(${colourOf(kind)})`;
  return kind === "masked" || kind === "padding" ? `url(#${kind}-${number})` : `var(--${kind})`;
}

// One path for all cells of a colour: a page may have tens of thousands of cells.
function drawCells(svg, numbers, at, number) {
  const paths = new Map(), values = [];
  for (let query = 0; query < numbers.queries; query++) {
    for (let key = 0; key < numbers.keys; key++) {
      const cell = query * numbers.keys + key;
      const x = at.left + key * at.width, y = at.top + query * at.height;
      const side = `h${at.width - at.gap}v${at.height - at.gap}h${at.gap - at.width}z`;
      const kinds = [kindAt(numbers, cell), ...(isStray(numbers, cell) ? ["stray"] : [])];
      for (const kind of kinds) paths.set(kind, (paths.get(kind) || "") + `M${x},${y}${side}`);
      if (at.valuesFit) values.push([kinds, cell, x, y]);
    }
  }
  for (const [kind, d] of paths) {
    if (kind !== "stray") shape(svg, "path", { d, fill: fillOf(kind, number) });
  }
  if (paths.has("stray")) {
    shape(svg, "path", {
      d: paths.get("stray"), fill: "none", stroke: "var(--bad)", "stroke-width": 2,
    });
  }
  for (const [kinds, cell, x, y] of values) drawValue(svg, numbers, at, kinds, cell, x, y);
  return new Set(paths.keys());
}

function drawValue(svg, numbers, at, kinds, cell, x, y) {
  const [kind, stray] = kinds;
  if ((kind === "masked" || kind === "padding") && !stray) return;
  const text = shortText(numbers, cell);
  const onState = stray ? "var(--bad)" : "var(--ink)";
  const fill = typeof kind === "number" ? inkOn(colourOf(kind)) : onState;
  const attributes = {
    x: x + (at.width - at.gap) / 2, y: y + at.height / 2 + 4, fill, "font-size": 11,
    "text-anchor": "middle",
  };
  // Over the hatching, with a rim.
  const rim = { stroke: "var(--page)", "stroke-width": 3, "paint-order": "stroke" };
  if (stray) Object.assign(attributes, rim);
  shape(svg, "text", attributes, text);
}

function drawAxes(svg, numbers, at) {
  const { level, queries, keys } = numbers;
  const name = { "font-size": 13, "font-weight": 600, fill: "var(--ink)" };
  shape(svg, "text", { ...name, x: at.left, y: 14 }, "key (columns)");
  shape(svg, "text", {
    ...name, "text-anchor": "middle", transform: `translate(13,${at.middle}) rotate(-90)`,
  }, ROWS);
  for (let query = 0; query < queries; query++) {
    shape(svg, "text", {
      x: at.left - 6, y: at.top + (query + 0.5) * at.height + at.size / 3, "font-size": at.size,
      "text-anchor": "end", fill: numbers.faults[query] ? "var(--bad)" : "var(--ink)",
    }, label(query, level.query[query], at.size, at.rowLabel));
  }
  for (let key = 0; key < keys; key++) {
    const x = at.left + (key + 0.5) * at.width;
    const where = at.upright
      ? { transform: `translate(${x + at.size / 3},${at.top - 5}) rotate(-90)` }
      : { x, y: at.top - 6, "text-anchor": "middle" };
    shape(svg, "text", { ...where, "font-size": at.size, fill: "var(--ink)" },
      label(key, level.key[key], at.size, at.columnLabel));
  }
}

function drawRowNumbers(svg, numbers, at) {
  const heads = ["sum", "entropy", "ln n"];
  const text = (x, y, content, fill, anchor = "end") => shape(svg, "text", {
    x, y, fill, "font-size": at.size, "text-anchor": anchor,
  }, content);
  const right = (n) => at.end + (n + 1) * at.column - 4;
  heads.forEach((head, n) => text(right(n), at.top - 6, head, "var(--soft)"));
  for (let query = 0; query < numbers.queries; query++) {
    const y = at.top + (query + 0.5) * at.height + at.size / 3;
    const faults = faultsOf(numbers, query);
    const row = [written(numbers.sums[query], 3), ...[numbers.entropies, numbers.uniform]
      .map((of) => written(of[query], 2))];
    row.forEach((content, n) => text(right(n), y, content, "var(--ink)"));
    if (faults.length) text(right(2) + 12, y, faults.join(", "), "var(--bad)", "start");
  }
}

function drawLegend(svg, present, top, room, number) {
  const ink = { "font-size": 12, fill: "var(--ink)" };
  const bar = Math.min(240, room - 40);
  shape(svg, "text", { ...ink, x: 4, y: top + 10 }, "weight");
  shape(svg, "rect", {
    x: 4, y: top + 16, width: bar, height: 12, fill: `url(#ramp-${number})`, stroke: "var(--line)",
  });
  [low, (low + high) / 2, high].forEach((value, n) => shape(svg, "text", {
    ...ink, x: 4 + (n / 2) * bar, y: top + 42, "text-anchor": ["start", "middle", "end"][n],
  }, String(Number(value.toPrecision(6)))));
  let x = 4, y = top + 54;
  for (const [kind, name] of Object.entries(NAMES).filter(([kind]) => present.has(kind))) {
    const needed = 24 + widthOf(name, 12) + 16;
    if (x > 4 && x + needed > room) [x, y] = [4, y + 22];
    const stray = kind === "stray";
    shape(svg, "rect", {
      x, y, width: 16, height: 16, fill: stray ? "none" : fillOf(kind, number),
      stroke: stray ? "var(--bad)" : "var(--line)", "stroke-width": stray ? 2 : 1,
    });
    shape(svg, "text", { ...ink, x: x + 22, y: y + 12 }, name);
    x += needed;
  }
  return y + (x > 4 ? 24 : 0);
}

// -- reading cell by cell

function listen(panel, svg, marker, numbers, at) {
  const readout = panel.find(".readout");
  let query = 0, key = 0;
  const move = (toQuery, toKey) => {
    query = Math.max(0, Math.min(numbers.queries - 1, toQuery));
    key = Math.max(0, Math.min(numbers.keys - 1, toKey));
    marker.setAttribute("x", at.left + key * at.width);
    marker.setAttribute("y", at.top + query * at.height);
    marker.setAttribute("visibility", "visible");
    readout.textContent = said(numbers, query, key);
    readout.classList.add("reading");
  };
  svg.addEventListener("pointermove", (event) => {
    const corner = svg.getBoundingClientRect();
    const column = Math.floor((event.clientX - corner.left - at.left) / at.width);
    const row = Math.floor((event.clientY - corner.top - at.top) / at.height);
    const inside = column >= 0 && row >= 0 && column < numbers.keys && row < numbers.queries;
    if (inside) move(row, column);
  });
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  svg.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const first = marker.getAttribute("visibility") === "hidden";
    move(query + (first ? 0 : step[0]), key + (first ? 0 : step[1]));
    marker.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

function said(numbers, query, key) {
  const { level } = numbers;
  const from = `query ${query} ${isolated(level.query[query])}`;
  const to = `key ${key} ${isolated(level.key[key])}`;
  const row = `row sum ${written(numbers.sums[query], 4)}, entropy ` +
    `${written(numbers.entropies[query], 3)}, ln n ${written(numbers.uniform[query], 3)}`;
  const faults = faultsOf(numbers, query);
  const problem = faults.length ? `; the row ${faults.join(", ")}` : "";
  return `${from}, ${to}: ${cellText(numbers, query * numbers.keys + key)} (${row}${problem})`;
}

// -- the table

function fillTable(panel, numbers) {
  const { level } = numbers;
  const table = element("table", { class: "numbers" });
  const caption = `${numbers.view.title}; rounded to ${Math.max(0, level.decimals)} decimals`;
  table.append(element("caption", {}, caption));
  const head = table.createTHead().insertRow();
  head.append(element("th", { scope: "col" }, "query \\ key"));
  const keys = level.key.map((token, n) => `${n} ${isolated(token)}`);
  for (const name of [...keys, "sum", "entropy", "ln n", "problems"]) {
    head.append(element("th", { scope: "col" }, name));
  }
  const body = table.createTBody();
  for (let query = 0; query < numbers.queries; query++) {
    const row = body.insertRow();
    row.append(element("th", { scope: "row" }, `${query} ${isolated(level.query[query])}`));
    for (let key = 0; key < numbers.keys; key++) {
      row.insertCell().textContent = cellText(numbers, query * numbers.keys + key);
    }
    row.insertCell().textContent = written(numbers.sums[query], 4);
    row.insertCell().textContent = written(numbers.entropies[query], 4);
    row.insertCell().textContent = written(numbers.uniform[query], 4);
    row.append(element("td", { class: "bad" }, faultsOf(numbers, query).join(", ")));
  }
  panel.find(".table .scroll").replaceChildren(table);
}

// -- all heads of a layer

async function fillOverview(panel) {
  const level = panel.level;
  const views = await Promise.all(level.shown.map((_, n) => unpack(level, panel.layer, n)));
  const buttons = views.map((numbers, n) => {
    const canvas = element("canvas", { width: numbers.keys, height: numbers.queries });
    paint(canvas, numbers);
    const button = element("button", { type: "button" }, level.shown[n]);
    button.append(canvas);
    button.addEventListener("click", () => panel.show({ shown: n }));
    return button;
  });
  panel.find(".heads").replaceChildren(...buttons);
}

function paint(canvas, numbers) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(numbers.keys, numbers.queries);
  for (let cell = 0; cell < numbers.values.length; cell++) {
    const kind = kindAt(numbers, cell);
    const colour = typeof kind === "number" ? colourOf(kind) : OVERVIEW[kind];
    image.data.set([...colour, 255], 4 * cell);
  }
  context.putImageData(image, 0, 0);
}

// A cell of the overview is too small for hatching.
const OVERVIEW = {
  masked: [150, 150, 150], padding: [120, 120, 120], missing: [255, 210, 80],
  below: [150, 90, 200], above: [255, 140, 40],
};

// -- the figure as a file of its own, with all that has to be known of it

function save(panel) {
  const svg = panel.find(".drawing svg").cloneNode(true);
  svg.querySelector(".marker").remove();
  const width = Math.max(480, Number(svg.getAttribute("width")));
  const told = "h2 .title, .alarm .failed, .alarm li, .panel > .note:not([hidden]), figcaption";
  const texts = [...panel.root.querySelectorAll(told)].map((one) => one.textContent).filter(Boolean);
  const lines = texts.flatMap((text) => wrapped(text, 13, width - 8));
  const above = 18 * lines.length + 10;
  const height = Number(svg.getAttribute("height")) + above;
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  whole.setAttribute("viewBox", `0 0 ${width} ${height}`);
  whole.setAttribute("width", width);
  whole.setAttribute("height", height);
  shape(whole, "rect", { width, height, fill: "var(--page)" });
  const line = { x: 4, "font-size": 13, fill: "var(--ink)" };
  lines.forEach((text, n) => shape(whole, "text", { ...line, y: 18 * (n + 1) }, text));
  const group = shape(whole, "g", { transform: `translate(0,${above})`, "font-family": FONT });
  group.append(...svg.childNodes);
  whole.setAttribute("font-family", FONT);
  const style = getComputedStyle(document.documentElement);
  const text = new XMLSerializer().serializeToString(whole)
    .replace(/var\((--\w+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const name = data.panels[panel.number].name.replace(/\.json$/, "");
  element("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// -- a panel: what is shown, and what is asked for

class Panel {
  constructor(root, number) {
    Object.assign(this, { root, number, layer: 0, shown: 0, turn: 0 });
    this.levels = data.panels[number].levels;
    this.level = this.levels[0];
    const level = (n) => this.show({ level: this.levels[n] });
    this.choose("Tokens as", this.levels.map((one) => one.label), level);
    this.choose("Layer", this.level.layers, (n) => this.show({ layer: n }));
    this.select = this.choose("Show", this.level.shown, (n) => this.show({ shown: n }));
    this.find(".overview").hidden = this.level.shown.length < 2;
    this.find(".overview").addEventListener("toggle", () => this.unfold());
    this.find(".table").addEventListener("toggle", () => this.unfold());
    this.find(".save").addEventListener("click", () => save(this));
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  note(selector, text) {
    this.find(selector).textContent = text;
    this.find(selector).hidden = !text;
  }

  choose(label, names, act) {
    if (names.length < 2) return null;
    const id = `choice-${this.number}-${this.find(".controls").childElementCount}`;
    const box = element("span");
    box.append(element("label", { for: id }, label), " ");
    const select = element("select", { id });
    names.forEach((name, n) => select.append(element("option", { value: n }, name)));
    select.addEventListener("change", () => act(Number(select.value)));
    box.append(select);
    this.find(".controls").append(box);
    return select;
  }

  async show(change = {}) {
    Object.assign(this, change);
    const turn = ++this.turn;
    const numbers = await unpack(this.level, this.layer, this.shown);
    if (turn !== this.turn) return;  // another view was asked for since
    this.numbers = numbers;
    if (this.select) this.select.value = this.shown;
    this.find(".title").textContent = numbers.view.title;
    this.find("figcaption").textContent = numbers.view.caption;
    this.note(".words", this.level.note);
    this.note(".pale", paleness(numbers));
    this.find(".readout").textContent = HINT;
    this.find(".readout").classList.remove("reading");
    draw(this, numbers);
    this.find(".table .scroll").replaceChildren();
    this.find(".heads").replaceChildren();
    this.unfold();
  }

  unfold() {
    if (!this.numbers) return;
    const wanted = this.numbers.values.length <= TABLE_AT_ONCE || this.find(".table").open;
    if (wanted && !this.find(".table table")) fillTable(this, this.numbers);
    if (this.find(".overview").open && !this.find(".heads button")) fillOverview(this);
  }
}

const panels = [...document.querySelectorAll(".panel")]
  .map((root, number) => new Panel(root, number));
const redraw = () => panels.forEach((panel) => panel.numbers && draw(panel, panel.numbers));
panels.forEach((panel) => panel.show());
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) redraw();
  width = innerWidth;
});
darkness.addEventListener("change", () => panels.forEach((panel) => panel.show()));
