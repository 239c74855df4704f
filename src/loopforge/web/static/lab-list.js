/* The list of runs: those that are being played show how far they are. And a run that has no step yet: its page is loaded when it has.

   Each stream takes a connection to the home: whoever waits in the queue is not followed, but for the next one, where nothing
   is being played. */
import { following } from "./held-streams.js";
import { renew } from "./page-parts.js";
import { reload } from "./page-reload.js";

const followed = new Set();

function follow() {
  const going = [...document.querySelectorAll(".is-running[data-follow]")].slice(0, 2);
  const next = [...document.querySelectorAll(".is-waiting[data-follow]")].slice(-1);
  for (const { id, dataset } of going.length ? going : next) {
    if (followed.has(id)) continue;
    followed.add(id);
    let source = null, ended = false;
    following(() => {
      if (ended) return;
      source = new EventSource(`${dataset.follow}/stream?after=0`);
      source.addEventListener("steps", (event) => {
        const { closed, planned, rates } = JSON.parse(event.data), row = document.getElementById(id);
        const bar = row.querySelector("progress");
        if (bar) Object.assign(bar, { max: planned || 1, value: closed });
        row.querySelectorAll("[data-rate]").forEach((each) => { each.textContent = rates[each.dataset.rate]; });
      });
      source.addEventListener("state", ({ data }) => {
        if (JSON.parse(data).state === "running" && document.getElementById(id).matches(".is-waiting")) renew();
      });
      source.addEventListener("over", () => { ended = true; source.close(); followed.delete(id); renew().then(follow); });
      source.addEventListener("gone", () => source.close());
    }, () => source.close());
  }
}
follow();

const waits = document.querySelector("[data-wait]");
if (waits) {
  let source = null;
  following(() => {
    source = new EventSource(`${waits.dataset.wait}/stream?after=0`);
    for (const kind of ["steps", "over"]) source.addEventListener(kind, () => { source.close(); reload(); });
    source.addEventListener("state", ({ data }) => {
      const now = JSON.parse(data);
      document.getElementById("lab-sign").textContent = now.told || now.state;
    });
  }, () => source.close());
}
