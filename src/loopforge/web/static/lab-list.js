/* The list of runs: those that are being played show how far they are.

   A browser holds six connections to a home, and each stream takes one for good: whoever waits in the
   queue is not followed, but for the next one, where nothing is being played. */

const going = [...document.querySelectorAll(".is-running[data-follow]")].slice(0, 2);
const next = [...document.querySelectorAll(".is-waiting[data-follow]")].slice(-1);

for (const row of going.length ? going : next) {
  const source = new EventSource(`${row.dataset.follow}/stream?after=0`);
  const bar = row.querySelector("progress");
  source.addEventListener("steps", (event) => {
    const { closed, planned, rates } = JSON.parse(event.data);
    if (bar) Object.assign(bar, { max: planned || 1, value: closed });
    row.querySelectorAll("[data-rate]").forEach((each) => { each.textContent = rates[each.dataset.rate]; });
  });
  source.addEventListener("over", () => { source.close(); location.reload(); });
  source.addEventListener("gone", () => source.close());
  addEventListener("pagehide", () => source.close());
}
