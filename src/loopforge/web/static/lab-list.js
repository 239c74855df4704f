/* The list of runs: those that are being played show how far they are.

   Each stream takes a connection to the home: whoever waits in the queue is not followed, but for the next one, where nothing
   is being played. */
import { following } from "./held-streams.js";

const going = [...document.querySelectorAll(".is-running[data-follow]")].slice(0, 2);
const next = [...document.querySelectorAll(".is-waiting[data-follow]")].slice(-1);

for (const row of going.length ? going : next) {
  const bar = row.querySelector("progress");
  let source = null;
  following(() => {
    source = new EventSource(`${row.dataset.follow}/stream?after=0`);
    source.addEventListener("steps", (event) => {
      const { closed, planned, rates } = JSON.parse(event.data);
      if (bar) Object.assign(bar, { max: planned || 1, value: closed });
      row.querySelectorAll("[data-rate]").forEach((each) => { each.textContent = rates[each.dataset.rate]; });
    });
    source.addEventListener("over", () => { source.close(); location.reload(); });
    source.addEventListener("gone", () => source.close());
  }, () => source.close());
}
