// Keys, and pieces of a page that renew themselves while a run goes on. Everything else works without it.
"use strict";

const places = { r: "/runs", c: "/candidates", o: "/rollouts", e: "/exhibits", s: "/sql" };
let chord = 0; // when `g` was pressed

function entries() {
  return [...document.querySelectorAll("main [data-list] tbody tr a[href]:first-of-type, main [data-entry]")]
    .filter((link, at, all) => link.closest("tr") === null || all.findIndex((other) => other.closest("tr") === link.closest("tr")) === at);
}

function step(by) {
  const all = entries();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) location.href = link.href;
}

function pressed(key) {
  if (Date.now() - chord < 1500 && places[key]) return void (location.href = places[key]);
  chord = key === "g" ? Date.now() : 0;
  if (key === "j") step(1);
  else if (key === "k") step(-1);
  else if (key === "n") follow("a[rel=next]");
  else if (key === "p") follow("a[rel=prev]");
  else if (key === "u") follow("a[data-up]");
  else if (key === "?") document.getElementById("keys").showModal();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (typing && event.key === "Enter" && (event.ctrlKey || event.metaKey)) return void typing.form?.requestSubmit();
  if (typing && event.key === "Escape") return void typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    event.preventDefault();
    const box = document.querySelector("main [data-search]");
    if (box) box.focus();
    else location.href = places.s;
  } else if (pressed(event.key)) event.preventDefault();
});

// <div data-renew="5"> is fetched anew every 5 seconds while it says so and the page is looked at.
async function renew(piece) {
  if (document.hidden || !getSelection().isCollapsed) return piece;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return piece;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(piece.id);
    if (fresh) put(fresh, piece);
    return fresh;
  } catch {
    return piece; // the server is gone, or busy: try again
  }
}

// What was open stays open, and the focus stays where it was.
function put(fresh, piece) {
  const open = [...piece.querySelectorAll("details")].map((each) => each.open);
  const focused = piece.contains(document.activeElement) && document.activeElement.getAttribute("href");
  piece.replaceWith(fresh);
  fresh.querySelectorAll("details").forEach((each, at) => (each.open = open[at] ?? each.open));
  if (focused) fresh.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

async function keepRenewing(piece) {
  while (piece && piece.dataset.renew) {
    await new Promise((done) => setTimeout(done, 1000 * Number(piece.dataset.renew)));
    piece = await renew(piece);
  }
}

for (const piece of document.querySelectorAll("[data-renew]")) keepRenewing(piece);
