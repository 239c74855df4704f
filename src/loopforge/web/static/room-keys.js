/* Around a room: the list of rooms with their news, going elsewhere by Ctrl+K, shortcuts. */

export function around({ base, text, make, halts, editLast }) {
  const $ = (id) => document.getElementById(id);
  const list = $("beside"), palette = $("palette"), goto = $("goto"), places = $("places");

  /* ---- news elsewhere */

  async function look() {
    if (document.hidden || halts()) return;
    try {
      const answered = await fetch(`${base}/beside`, { headers: { accept: "text/html" } });
      if (!answered.ok || answered.redirected) return;
      const html = await answered.text();
      if (list.dataset.shown === html || list.matches(":active")) return;
      const at = list.querySelector(":focus");
      list.innerHTML = list.dataset.shown = html; // safe: a template of the server's
      if (at) list.querySelector(at.href ? `[href="${at.pathname}"]` : "button")?.focus();
    } catch { /* the next look tells */ }
  }
  setInterval(look, 30000);
  addEventListener("focus", look);
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

  /* ---- going elsewhere */

  let picked = 0;
  const all = () => [...list.querySelectorAll("a"), ...document.querySelectorAll("header.top nav a, #scene a[href]:not(.close)")]
    .map((link) => ({ href: link.getAttribute("href"), name: (link.querySelector("span:not(:has(*)), b") ?? link).textContent.trim(), badge: link.querySelector(".badge")?.textContent ?? "" }))
    .filter((each, nth, every) => each.name && every.findIndex((one) => one.href === each.href) === nth);
  function offer() {
    const sought = goto.value.trim().toLowerCase();
    const found = all().filter(({ name }) => sought.split(/\s+/).every((word) => name.toLowerCase().includes(word))).slice(0, 12);
    picked = 0;
    places.replaceChildren(...found.map(({ href, name, badge }) => {
      const item = make("li"), link = make("a", "", name);
      link.href = href;
      if (badge) link.append(" ", make("b", "badge hot", badge));
      item.append(link);
      return item;
    }));
    if (!found.length) places.append(make("li", "hint", "Nothing is called that."));
    mark();
  }
  const mark = () => [...places.querySelectorAll("a")].forEach((link, nth) => link.classList.toggle("picked", nth === picked));
  function choose() {
    goto.value = "";
    offer();
    palette.showModal();
    goto.focus();
  }
  list.addEventListener("click", ({ target }) => { if (target.closest("[data-goto]")) choose(); });
  goto.addEventListener("input", offer);
  goto.addEventListener("keydown", (event) => {
    const count = places.querySelectorAll("a").length;
    if (event.key === "Enter") { event.preventDefault(); places.querySelectorAll("a")[picked]?.click(); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    picked = count ? (picked + (event.key === "ArrowDown" ? 1 : count - 1)) % count : 0;
    mark();
  });
  for (const dialog of [palette, $("keys")]) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.preventDefault(); dialog.close(); } });
  }

  /* ---- keys */

  const writes = (target) => target.closest?.("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key.toLowerCase() === "k") { event.preventDefault(); if (!palette.open) choose(); return; }
    if (control && event.key === "F6") {
      event.preventDefault();
      look().then(() => list.querySelector("li:has(.badge) a")?.click());
      return;
    }
    if (event.defaultPrevented || control || event.altKey) return;
    if (event.key === "ArrowUp" && event.target === text && !text.value && editLast()) { event.preventDefault(); return; }
    const bare = !writes(event.target) || (event.target === text && !text.value && event.key === "?");
    if (!bare || document.querySelector("dialog:modal")) return;
    if (event.key === "?") { event.preventDefault(); $("keys").showModal(); }
    if (event.key === "/") { event.preventDefault(); $("find").focus(); }
  });
  $("show-keys").addEventListener("click", () => $("keys").showModal());
  $("browser").hidden = false;
}
