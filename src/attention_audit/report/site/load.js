"use strict";
// Script files as data: a page that was opened from a disk may load nothing else.

const arrivals = new Map();

function receive(key, data) {
  arrivals.get(key)?.(data);
}

const loads = new Map();

// The data of a file in a folder of the report, loaded once.
function load(folder, key) {
  const path = `${folder}/${encodeURIComponent(key)}.js`;
  if (!loads.has(path)) loads.set(path, started(path, key));
  return loads.get(path);
}

function started(path, key) {
  return new Promise((resolve, reject) => {
    arrivals.set(key, resolve);
    const script = document.createElement("script");
    script.src = path;
    script.addEventListener("error", () => reject(new Error(`${path} is missing`)));
    document.body.append(script);
  });
}

// Text is set as text: nothing of the store becomes markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
