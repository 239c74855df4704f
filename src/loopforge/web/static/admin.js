// The owner's pages. Without this script buttons that copy are hidden, and texts can be marked by hand.
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
// A model's file is sent as it is, however large. Without this script it is taken by its path alone.
for (const form of document.querySelectorAll("[data-upload]")) {
  const [file, bar, said, button, stop] = ["input", "progress", "[role=status]", "[type=submit]", "[type=button]"]
    .map((one) => form.querySelector(one));
  const tell = (words, bad) => {
    said.textContent = words;
    said.className = bad ? "flash bad" : "hint";
    said.hidden = false;
    bar.hidden = stop.hidden = bad;
    button.disabled = !bad;
  };
  const broken = "It broke off; nothing of it was kept. Is Loopforge still running, and the network well?";
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [model] = file.files;
    const head = await model.slice(0, 4).text().catch(() => "");
    if (head !== "GGUF") {
      tell("That is no model in llama.cpp’s format. Look for a file whose name ends in .gguf.", true);
      return;
    }
    const sending = new XMLHttpRequest();
    const all = (model.size / 1e6).toFixed(0);
    sending.upload.onprogress = (step) => {
      bar.value = step.loaded / step.total;
      said.textContent = `${(step.loaded / 1e6).toFixed(0)} of ${all} MB were sent.`;
    };
    sending.onerror = () => tell(broken, true);
    sending.onabort = () => tell("It was stopped; nothing of it was kept.", true);
    stop.onclick = () => sending.abort();
    sending.onload = () => {
      if (sending.response?.to) location.assign(sending.response.to);
      else tell(sending.response?.error ?? broken, true);
    };
    sending.open("POST", `${form.dataset.upload}?name=${encodeURIComponent(model.name)}`);
    sending.responseType = "json";
    sending.setRequestHeader("accept", "application/json");
    sending.setRequestHeader("content-type", "application/octet-stream");
    sending.setRequestHeader("x-csrftoken", window.loopforge.token());
    tell("It is being sent.", false);
    sending.send(model);
  });
}
// What shows itself anew waits while something of it is pressed: a click is of one and the same button.
document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target.matches?.(":active")) detail.shouldSwap = false;
});
