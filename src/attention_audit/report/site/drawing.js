"use strict";
// A text with its weights as a picture and as LaTeX.

const SIZE = 13, LINE = 24, ROOM = 720;

// Of what lies below 0, as RAMPS of what lies above.
const BELOW = {
  light: [[255, 247, 236], [253, 190, 130], [213, 94, 0]],
  dark: [[22, 32, 44], [120, 60, 10], [240, 150, 70]],
};

// The colour of a value from -1 to 1 on a light or dark ground, and the ink that is read on it.
function colourOf(value, signed, ground = "light") {
  const ramps = signed && value < 0 ? BELOW : RAMPS;
  const colour = between(ramps[ground], Math.min(1, Math.abs(value)));
  return { fill: `rgb(${colour.join(", ")})`, ink: inkOn(colour) };
}

function measured(text) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${SIZE}px sans-serif`;
  return pen.measureText(text).width;
}

const escaped = (text) => text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);

// Words in lines, each layer under its name.
function drawnText(words, layers) {
  const parts = [];
  let y = 8;
  for (const { name, values, largest, scale, signed } of layers) {
    y += 18;
    parts.push(`<text x="8" y="${y}" font-weight="bold">${escaped(`${name} (${scale})`)}</text>`);
    y += 6;
    let x = 8;
    words.forEach((word, n) => {
      const width = measured(word) + 8;
      if (x + width > ROOM && x > 8) { x = 8; y += LINE; }
      const { fill, ink } = values[n] === null ? { fill: "none", ink: "#16202b" }
        : colourOf(values[n] / largest, signed);
      parts.push(`<rect x="${x}" y="${y}" width="${width}" height="20" fill="${fill}"/>`,
        `<text x="${x + 4}" y="${y + 15}" fill="${ink}">${escaped(word)}</text>`);
      x += width + 2;
    });
    y += LINE + 4;
  }
  const width = ROOM + 16, height = y + 8;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `
    + `font-family="sans-serif" font-size="${SIZE}" fill="#16202b">`
    + `<rect width="100%" height="100%" fill="#ffffff"/>${parts.join("")}</svg>`;
  return { svg, width, height };
}

// A picture's address, twice as large as the drawing.
async function asPicture({ svg, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = element("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return canvas.toDataURL("image/png");
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "<": "\\textless{}", ">": "\\textgreater{}",
};
const commandless = (text) => text.replace(/[\\~^<>&%$#_{}]/g, (found) => LATEX[found] ?? `\\${found}`);

function asLatex(words, layers) {
  const marked = ({ values, largest, signed }) => words.map((word, n) => {
    if (values[n] === null) return commandless(word);
    const { fill, ink } = colourOf(values[n] / largest, signed);
    const colour = ink === "#ffffff" ? "\\color{white}" : "";
    return `\\colorbox[RGB]{${fill.match(/\d+/g).join(",")}}{\\strut${colour} ${commandless(word)}}`;
  }).join("\n");
  const parts = layers.map((layer) =>
    `\\paragraph{${commandless(`${layer.name} (${layer.scale})`)}}\n${marked(layer)}`);
  return `% Needs \\usepackage{xcolor}, and XeLaTeX or LuaLaTeX for other than Latin letters.\n${parts.join("\n\n")}\n`;
}
