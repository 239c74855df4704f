/* The editor of a mate's file: numbers beside its lines, marks where the check found something,
   Ctrl+S, and a word before what was typed is left behind. Everything else is the server's. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("editor");
  const text = document.getElementById("text");
  const lines = document.querySelector(".editor-lines");
  if (!form || !text || !lines) return;
  const opened = text.value;
  const other = document.querySelector("[role=alert]") !== null;
  let leaving = false;

  const flaws = () => new Set((document.getElementById("check")?.dataset.flaws ?? "").split(","));

  /* The same words under the text, wrapped in the same way: each line has its number at its side. */
  const number = () => {
    const bad = flaws();
    const written = text.value.split("\n");
    while (lines.children.length > written.length) lines.lastElementChild.remove();
    while (lines.children.length < written.length) lines.append(document.createElement("div"));
    written.forEach((line, n) => {
      const row = lines.children[n];
      if (row.textContent !== line) row.textContent = line;
      row.classList.toggle("is-bad", bad.has(String(n + 1)));
    });
  };

  const go = (line) => {
    const before = text.value.split("\n").slice(0, line - 1).join("\n").length;
    const start = line > 1 ? before + 1 : 0;
    const end = text.value.indexOf("\n", start);
    text.focus();
    text.setSelectionRange(start, end < 0 ? text.value.length : end);
    lines.children[line - 1]?.scrollIntoView({ block: "center" });
  };

  text.addEventListener("input", number);
  document.body.addEventListener("htmx:afterSettle", () => {
    number();
    const said = document.querySelector("#check h2")?.textContent.trim().replace(/\s+/g, " ");
    const verdict = document.querySelector("#verdict a");
    if (said && verdict && verdict.textContent !== said) verdict.textContent = said;
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-line]");
    if (!link) return;
    event.preventDefault();
    go(Number(link.dataset.line));
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", () => { leaving = true; });
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && (other || text.value !== opened)) event.preventDefault();
  });
  number();
});
