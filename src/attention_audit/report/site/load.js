"use strict";
// Script files as data: a page that was opened from a disk may load nothing else.

const arrivals = new Map();

function receive(name, data) {
  arrivals.get(name)?.(data);
}

const loads = new Map();

// The data of a file in a folder of the report, loaded once.
function load(folder, key) {
  const name = `${folder}/${key}`;
  if (!loads.has(name)) loads.set(name, started(name, `${folder}/${encodeURIComponent(key)}.js`));
  return loads.get(name);
}

// A file that is missing is said, and its data never come.
function started(name, path) {
  return new Promise((resolve) => {
    arrivals.set(name, resolve);
    const script = document.createElement("script");
    script.src = path;
    script.addEventListener("error", () => document.querySelector("main").prepend(
      element("p", { class: "alarm" }, `${name}.js is missing: keep the report's folder whole.`)));
    document.body.append(script);
  });
}

// The parts of the address's fragment, which anybody may have written.
function fragment() {
  try {
    return location.hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return [""];
  }
}

// Text is set as text: nothing of the store becomes markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
