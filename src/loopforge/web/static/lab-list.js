/* The list of runs: those that are being played show how far they are. */

for (const row of document.querySelectorAll("[data-follow]")) {
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
