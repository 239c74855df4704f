/* A task's page while the task goes on: told that something happened, it asks for itself again and takes over the
   parts that are others now. What somebody unfolded stays unfolded, what they write stays written. */

import { following } from "./held-streams.js";

const BREATHER = 300; // milliseconds between two looks
const LATER = 3000; // until the next one where the home could not answer
const main = document.querySelector("[data-task]");
const shown = new Map([...main.querySelectorAll("[data-part]")].map((part) => [part.id, part.outerHTML]));
let seq = Number(main.dataset.seq), busy = false;

/* What a person did to a part of the page, done to the newer copy of it. */
function keep(old, fresh) {
  for (const each of old.querySelectorAll("details[data-key]")) {
    const same = fresh.querySelector(`details[data-key="${CSS.escape(each.dataset.key)}"]`);
    if (same) same.open = each.open;
  }
  if (fresh.matches("details")) fresh.open = old.open;
  for (const field of old.querySelectorAll("textarea, input:not([type=hidden])")) {
    const same = field.id && fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (same) same.value = field.value;
  }
}

function put(fresh, before) {
  const html = fresh.outerHTML, old = document.getElementById(fresh.id);
  if (shown.get(fresh.id) === html && old) return old;
  shown.set(fresh.id, html);
  const made = document.importNode(fresh, true);
  if (!old) {
    before.after(made);
    return made;
  }
  const focus = old.contains(document.activeElement) ? document.activeElement : null;
  const at = focus?.selectionStart;
  keep(old, made);
  old.replaceWith(made);
  const again = focus && (focus.id ? document.getElementById(focus.id)
    : made.querySelector(focus.name ? `[name="${focus.name}"][value="${CSS.escape(focus.value)}"]` : focus.localName));
  again?.focus({ preventScroll: true });
  if (typeof at === "number" && again?.setSelectionRange) again.setSelectionRange(at, at);
  return made;
}

async function look() {
  if (busy) return;
  busy = true;
  try {
    while (seq > Number(main.dataset.seq)) {
      const wanted = seq, answer = await fetch(main.dataset.task, { headers: { Accept: "text/html" } });
      if (answer.redirected || answer.status === 404) return location.reload();
      if (!answer.ok) { // too much at once, or a trouble of the home
        setTimeout(look, LATER);
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.title = page.title;
      const fresh = [...page.querySelectorAll("[data-part]")], ids = new Set(fresh.map((part) => part.id));
      let last = null;
      for (const part of fresh) {
        const list = part.parentElement.matches("[data-parts]");
        if (!list) put(part);
        else if (last) last = put(part, last);
        else if (document.getElementById(part.id)) last = put(part);
        else {
          const made = document.importNode(part, true);
          shown.set(part.id, part.outerHTML);
          document.getElementById(part.parentElement.id).prepend(made);
          last = made;
        }
      }
      for (const part of main.querySelectorAll("[data-part]")) if (!ids.has(part.id)) part.remove();
      main.dataset.seq = Math.max(wanted, Number(page.querySelector("[data-task]").dataset.seq));
      await new Promise((done) => setTimeout(done, BREATHER));
    }
  } catch { /* the home is away; the stream comes again, and tells how far it is */ } finally {
    busy = false;
  }
}

let source = null;
following(() => {
  source = new EventSource(`${main.dataset.task}/stream?after=${seq}`);
  source.addEventListener("changed", (event) => {
    seq = Math.max(seq, JSON.parse(event.data).seq);
    look();
  });
  source.addEventListener("hello", look);
  source.addEventListener("gone", () => { source.close(); location.reload(); });
}, () => source.close());
