"use strict";
// Files that a page makes of what it shows.

function save(name, address) {
  element("a", { href: address, download: name }).click();
}

function asFile(text, type) {
  return URL.createObjectURL(new Blob([text], { type }));
}

function commaSeparated(rows) {
  // A leading sign would be read as a formula by a spreadsheet.
  const safe = (value) => (typeof value === "string" && /^[=+\-@]/.test(value) ? `'${value}` : value);
  const quoted = (value) => `"${String(safe(value) ?? "").replaceAll('"', '""')}"`;
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n");
}

function saveButtons(name, actions) {
  const buttons = Object.entries(actions).map(([label, act]) => {
    const button = element("button", { type: "button", class: "save" }, label);
    button.setAttribute("aria-label", `Save ${name} as ${label}`);
    button.addEventListener("click", act);
    return button;
  });
  return element("p", { class: "actions" }, ...buttons);
}
