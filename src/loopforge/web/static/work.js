/* A task's page while the task goes on: told that something happened, it asks for itself again and takes over the
   parts that are others now. What somebody unfolded stays unfolded, what they write stays written. */

import { following } from "./held-streams.js";
import { reload } from "./page-reload.js";

const BREATHER = 300; // milliseconds between two looks
const LATER = 3000; // until the next one where the home could not answer
const GRASP = 500; // in which nobody has seen yet that something else stands there
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
  const focus = old.contains(document.activeElement) ? document.activeElement : null, at = focus?.selectionStart;
  keep(old, made);
  old.replaceWith(made);
  made.animate([{ pointerEvents: "none" }, { pointerEvents: "none" }], GRASP);
  if (!focus) return made;
  const like = focus.id ? `#${CSS.escape(focus.id)}`
    : focus.name ? `[name="${focus.name}"][value="${CSS.escape(focus.value)}"]` : focus.localName;
  let again = made.querySelectorAll(like)[[...old.querySelectorAll(like)].indexOf(focus)];
  if (!again || (again.matches("button") && again.form.outerHTML !== focus.form.outerHTML)) {
    again = made.hidden ? main : made; // what stands there now takes no key that was meant for what did
    again.tabIndex = -1;
  }
  again.focus({ preventScroll: true });
  if (typeof at === "number" && again.setSelectionRange) again.setSelectionRange(at, at);
  return made;
}

async function look() {
  if (busy) return;
  busy = true;
  try {
    while (seq > Number(main.dataset.seq)) {
      const wanted = seq, answer = await fetch(main.dataset.task, { headers: { Accept: "text/html" } });
      if (answer.redirected || answer.status === 404) return reload();
      if (!answer.ok) throw answer; // too much at once, or a trouble of the home
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      window.loopforge.times(page); // as those that stand here
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
  } catch { // also where the home is away for that, and the stream is not
    setTimeout(look, LATER);
  } finally {
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
  source.addEventListener("gone", () => { source.close(); reload(); });
}, () => source.close());
