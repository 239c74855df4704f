/* Parts of a page ([data-part], each with an id) that are taken over from a newer copy of it where they are others now. What
   somebody unfolded stays unfolded, what they write stays written, and who is at the keyboard keeps their place. */

import { released, reload } from "./page-reload.js";

const GRASP = 500; // milliseconds in which nobody has seen yet that something else stands there
const LATER = 3000; // until the next try where the home could not answer
const main = document.querySelector("main");
const shown = new Map([...main.querySelectorAll("[data-part]")].map((part) => [part.id, part.outerHTML]));

/* The page as it is now, once nothing here is pressed; null where it is nobody's to see any more. Throws where the home cannot answer. */
export async function newer(path) {
  const answer = await fetch(path, { headers: { Accept: "text/html" } });
  if (answer.redirected || answer.status === 404) return void reload();
  if (!answer.ok) throw answer; // too much at once, or a trouble of the home
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  window.loopforge.times(page); // as those that stand here
  await released();
  return page;
}

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

/* Take over one part; what stands there then. One that is not there yet stands behind `before`, else at the beginning of its list. */
export function put(fresh, before) {
  const html = fresh.outerHTML, old = document.getElementById(fresh.id);
  if (shown.get(fresh.id) === html && old) return old;
  shown.set(fresh.id, html);
  const made = document.importNode(fresh, true);
  if (!old) {
    if (before) before.after(made);
    else document.getElementById(fresh.parentElement.id).prepend(made);
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

/* The parts that stand here, as they are now. Tries again where the home cannot answer. */
export async function renew() {
  try {
    const page = await newer(location.href);
    for (const part of page?.querySelectorAll("[data-part]") ?? []) if (document.getElementById(part.id)) put(part);
    return page;
  } catch {
    await new Promise((done) => setTimeout(done, LATER));
    return renew();
  }
}
