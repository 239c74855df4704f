// The owner's pages: buttons that copy. Without this script they are hidden, and texts can be marked by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) continue;
  const name = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = source.value ?? source.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // not a secure address: mark it, and let the old command copy
      if (source.select) source.select();
      else getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 2000);
  });
}
// The time zone of this browser is offered where another one is set.
for (const zones of document.querySelectorAll("[data-zone]")) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = [...zones.options].some((each) => each.value === here);
  if (!known || zones.value === here) continue;
  const hint = document.getElementById("zone-hint");
  hint.textContent = `It was ${zones.value}; this browser is in ${here}.`;
  hint.hidden = false;
  zones.value = here;
}
