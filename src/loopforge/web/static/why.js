// Copies the link of a flight record. Without this script the button stays hidden.
"use strict";

function show() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest(".why-copy[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Could not copy";
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 2000);
});
document.addEventListener("htmx:afterSwap", show);
document.addEventListener("DOMContentLoaded", show);
if (document.readyState !== "loading") show();
