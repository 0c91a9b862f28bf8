"use strict";
const panel = document.getElementById("opened"), inside = panel.querySelector("div"), known = new WeakMap();
let opened = null;

function read(exhibit) {
  if (!known.has(exhibit)) known.set(exhibit, JSON.parse(exhibit.querySelector(":scope > script").textContent));
  return known.get(exhibit);
}

function put(parent, tag, text, style) {
  const made = parent.appendChild(document.createElement(tag));
  made.textContent = text;
  if (style) made.className = style;
  return made;
}

function numbers(cell, column, data) {
  const [value, n, low, high, paper, tolerance] = cell, list = document.createElement("dl");
  const said = (name, text) => { const one = list.appendChild(document.createElement("div")); put(one, "dt", name); put(one, "dd", text); };
  said("value", value == null ? "not measured" : String(value));
  said("made as", column[1]);
  said("n (" + data.units + ")", String(n));
  if (low != null) said(Math.round(100 * data.confidence) + " % interval", low + " to " + high);
  if (paper != null) {
    said("paper", paper + " ± " + tolerance);
    if (value != null) said("within the tolerance", Math.abs(value - paper) <= tolerance + 1e-12 ? "yes" : "no");
  }
  return list;
}

// Inside double quotes of a shell.
const quoted = (sql) => '"' + sql.replace(/[\\"$`]/g, "\\$&") + '"';

function query(name, column, row) {
  const where = column[3] ? row[2] || row[1] : row[1];
  return where && "hbench sql --exhibit " + name + " " + quoted(column[2] + " where " + where + " order by all");
}

function open(button, move) {
  const exhibit = button.closest(".exhibit"), data = read(exhibit), labels = Number(exhibit.dataset.labels);
  const cell = button.parentNode, line = cell.parentNode, at = line.sectionRowIndex, c = cell.cellIndex - labels;
  const column = data.columns[c], row = data.rows[at], found = data.cells[at * data.columns.length + c];
  inside.replaceChildren();
  const title = [...line.cells].slice(0, labels).map((each) => each.textContent).join(" / ");
  put(inside, "strong", title + ": " + column[0]);
  inside.append(numbers(found, column, data));
  const asked = query(exhibit.id, column, row);
  if (row[3]) put(inside, "p", "No spec here fills it: " + row[3]);
  else if (found[0] == null && row[0]) put(inside, "p", "Filled by: " + row[0].split(", ").map((spec) => "hbench run " + spec).join("; "));
  if (asked) { put(inside, "p", "What it is made of, the rows without a value included:", "quiet"); put(inside, "pre", asked, "asked"); }
  if (opened) opened.removeAttribute("aria-expanded");
  opened = button;
  button.setAttribute("aria-expanded", "true");
  if (!panel.open) panel.show();
  if (move) button.focus();
  history.replaceState(null, "", "#" + exhibit.id + ":" + at + ":" + c);
}

function close() {
  if (!opened) return;
  panel.close();
  opened.removeAttribute("aria-expanded");
  opened.focus();
  opened = null;
}

function beside(button, key) {
  const cell = button.parentNode, line = cell.parentNode;
  const next = { ArrowLeft: cell.previousElementSibling, ArrowRight: cell.nextElementSibling,
    ArrowUp: line.previousElementSibling && line.previousElementSibling.cells[cell.cellIndex],
    ArrowDown: line.nextElementSibling && line.nextElementSibling.cells[cell.cellIndex] }[key];
  return next && next.querySelector("button");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".cells button");
  if (button) button === opened ? close() : open(button, true);
  else if (event.target.closest(".close")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return close();
  const button = event.target.closest && event.target.closest(".cells button"), next = button && beside(button, event.key);
  if (!next) return;
  event.preventDefault();
  opened ? open(next, true) : next.focus();
});

function follow() {
  const [name, at, c] = decodeURIComponent(location.hash.slice(1)).split(":"), place = document.getElementById(name);
  if (!place) return;
  if (c === undefined) close();
  if (place.tagName === "DETAILS") place.open = true;
  const line = c !== undefined && place.querySelector(".cells").tBodies[0].rows[Number(at)];
  const button = line && line.cells[Number(c) + Number(place.dataset.labels)].querySelector("button");
  if (button) { open(button, true); button.scrollIntoView({ block: "center", inline: "center" }); } else place.scrollIntoView();
}
window.addEventListener("hashchange", follow);
follow();
