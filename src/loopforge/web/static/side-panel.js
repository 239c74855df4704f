/* What the panel of a room's page shows: another page's main part, with its styles. Loaded by room.js when it is opened. */
const htmx = () => new Promise((done, failed) => { // only some panels need it
  if (window.htmx) return void done(window.htmx);
  const script = document.createElement("script");
  script.src = "/static/htmx.min.js";
  script.onload = () => done(window.htmx);
  script.onerror = failed;
  document.head.append(script);
});

export async function fill(panel, url) {
  const answered = await fetch(url, { headers: { "HX-Request": "true", accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answered.text(), "text/html");
  for (const sheet of page.querySelectorAll("link[rel=stylesheet]")) {
    const known = [...document.styleSheets].some((each) => each.href === sheet.href);
    if (!known) document.head.append(sheet);
    else sheet.remove();
  }
  const found = page.querySelector("main") ?? page.body;
  const named = page.querySelector("[data-panel-title]");
  if (named) document.getElementById("sheet-title").textContent = named.dataset.panelTitle;
  found.querySelectorAll("[id^='l-']").forEach((each) => each.removeAttribute("id"));
  panel.replaceChildren(...found.childNodes);
  panel.scrollTop = 0;
  if (panel.querySelector("[hx-get], [hx-post]")) (await htmx()).process(panel);
}
