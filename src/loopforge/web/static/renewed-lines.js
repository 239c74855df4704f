/* Words of a room were forgotten since its page was loaded: its lines are given as they are now, each in its place, and what else
   may hold those words goes. What this person writes, edits, answers or is about to send stays. Loaded by room.js. */

const $ = (id) => document.getElementById(id);

/* The past of the room from here on back, as a page of it comes. */
async function before(seq) {
  const answer = await fetch(`${location.pathname}/before?seq=${seq}`, { headers: { "HX-Request": "true" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".past");
}

export async function renew(lines, equip, digest, gist) {
  if ($("sheet").open) $("sheet").close();
  $("told").hidden = true;
  lines.setAttribute("aria-live", "off"); // none of them is new
  const until = Number(lines.querySelector("[data-seq]").dataset.seq);
  for (let seq = Number.MAX_SAFE_INTEGER, more = true; more;) {
    const found = await before(seq);
    seq = Number(found.dataset.oldest);
    more = found.dataset.more === "yes" && seq > until;
    for (const line of [...found.children]) {
      const old = $(line.id);
      if (!old || old.querySelector(".editing")) continue;
      old.replaceWith(line);
      equip(line);
    }
    digest(found);
  }
  const answered = lines.querySelector(`[data-id="${CSS.escape($("reply-to").value)}"]`);
  if (answered) document.querySelector("#replying .gist").textContent = gist(answered);
  requestAnimationFrame(() => lines.setAttribute("aria-live", "polite"));
}
