/* A task's page while the task goes on: told that something happened, it asks for itself again and takes over the
   parts that are others now. */

import { following } from "./held-streams.js";
import { newer, put } from "./page-parts.js";
import { reload } from "./page-reload.js";

const BREATHER = 300; // milliseconds between two looks
const LATER = 3000; // until the next one where the home could not answer
const main = document.querySelector("[data-task]");
let seq = Number(main.dataset.seq), busy = false;

async function look() {
  if (busy) return;
  busy = true;
  try {
    while (seq > Number(main.dataset.seq)) {
      const wanted = seq, page = await newer(main.dataset.task);
      if (!page) return;
      document.title = page.title;
      const fresh = [...page.querySelectorAll("[data-part]")], ids = new Set(fresh.map((part) => part.id));
      let last = null;
      for (const part of fresh) {
        const list = part.parentElement.matches("[data-parts]");
        if (list) last = put(part, last);
        else put(part);
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
