/* The room's page: lines, drafts, the stream, scrolling and history, the panel. The HTML is the
   server's, this moves it about; without it the page reads and sends. */
import { compose } from "./composer.js";
import { acting } from "./line-actions.js";
import { following } from "./held-streams.js";
import { notifications } from "./notifications.js";
import { around } from "./room-keys.js";

{
  const main = document.querySelector("main.room");
  const $ = (id) => document.getElementById(id);
  const { room, you } = main.dataset;
  const base = `/rooms/${room}`;
  const log = $("log"), lines = $("lines"), drafts = $("drafts"), scene = $("scene-body");
  const text = $("text");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const narrow = matchMedia("(max-width: 899px)");
  const past = new URLSearchParams(location.search).has("at");
  let newest = Number(main.dataset.head);
  const read = Number(main.dataset.read), opened = newest;
  let oldest = Number(main.dataset.oldest);
  let more = main.dataset.more === "yes";

  const make = (tag, name = "", words = "") => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = words;
    return made;
  };
  const fragment = (html) => {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return window.loopforge.times(holder.content);
  };
  const byId = (id) => lines.querySelector(`[data-id="${CSS.escape(id)}"]`);
  const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words);
  const saved = (key, value, name = you + room + key) => { // tabs are shared
    try {
      if (value === undefined) return sessionStorage.getItem(name);
      if (value) sessionStorage.setItem(name, value);
      else sessionStorage.removeItem(name);
    } catch { /* closed to us */ }
    return null;
  };
  const post = (path, body, keepalive = false, signal) => fetch(base + path, {
    method: "POST", body, keepalive, signal,
    headers: { accept: "application/json", "x-csrftoken": window.loopforge.token() },
  });
  const fields = (values) => new URLSearchParams(values);
  const problem = (words) => {
    $("problem").textContent = words;
    $("problem").hidden = !words;
  };

  /* ---- lines */

  const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" });
  const when = (line) => Date.parse(line.querySelector("time").dateTime);
  const speaker = (line) => line.querySelector(".who").textContent;

  /* What one can do with a line; the server sends it without. */
  function equip(line) {
    watch.observe(line);
    line.classList.toggle("mine", line.dataset.person === you);
    if (line.dataset.asks) ask(line);
    else if (line.querySelector(".calls")) tools();
    if (!line.matches(".line:not(.equipped)")) return;
    line.classList.add("equipped");
    line.querySelector(".tools").append($("tools").content.cloneNode(true));
    deeds.equip(line);
    line.querySelector("[data-act=reply]").setAttribute("aria-label", `Reply to ${speaker(line)}`);
    line.querySelector(".why")?.setAttribute("aria-label", `Why? The record of this line of ${speaker(line)}`);
  }

  /* Cards of questions, and tools under lines: fetched where there are any. */
  let doing = null;
  const tools = () => (doing ??= import("./question-card.js").then(({ asking }) =>
    asking({ base, lines, fragment, post, make, settle: () => { if (stuck) toFoot(); } })));
  const ask = (event) => tools().then((those) => those.ask(event));

  /* Day marks, runs of lines by one speaker, whose is whose, where the unread begin. */
  function arrange() {
    lines.querySelectorAll(":scope > .day").forEach((mark) => mark.remove());
    const mark = (line, name, words) => (lines.insertBefore(make("div", name, words), line).ariaLive = "off");
    let before = null, day = "", fresh = read > 0;
    for (const line of [...lines.children]) {
      if (fresh && Number(line.dataset.seq) > read && line.matches(".line:not(.mine)")) {
        fresh = false;
        if (Number(line.dataset.seq) <= opened) mark(line, "day since", "New since you were here");
      }
      const on = days.format(when(line));
      if (on !== day) {
        mark(line, "day", day = on);
        before = null;
      }
      const who = line.dataset.mate ?? line.dataset.person;
      const run = before && who && who === (before.dataset.mate ?? before.dataset.person)
        && when(line) - when(before) < 300000 && !line.querySelector(".quote");
      line.classList.toggle("run", Boolean(run));
      before = line.classList.contains("line") ? line : null;
    }
    for (const quote of lines.querySelectorAll(".quote:not(.filled)")) {
      const to = byId(quote.dataset.to);
      if (!to) continue;
      quote.classList.add("filled");
      quote.href = `#${to.id}`;
      quote.querySelector(".gist").textContent = gist(to);
    }
    $("beginning").hidden = more;
    const top = $("earlier");
    if (top) top.hidden = !more;
  }

  /* Many lines may come at once; they are arranged together. */
  let due = 0;
  const soon = () => { due ||= setTimeout(() => { due = 0; arrange(); prune(); stand(); if (stuck) toFoot(); }, 20); };

  const gist = (line) =>
    `${speaker(line)}: ${cut(line.querySelector(".words").innerText.trim().replace(/\s+/g, " ") || "a file", 90)}`;

  /* A mark, a reaction or an edit, told by an event, put on its line. */
  function change({ kind, seq, line: id, mark, emoji, who, name, back, html, turn, aside: word, told: words }) {
    if (kind === "ledger.erased") {
      if (seq > Number(main.dataset.head)) import("./renewed-lines.js").then(({ renew }) => renew(lines, equip, digest, gist)).then(soon, () => location.reload());
      return;
    }
    const line = byId(id);
    if (line && kind.startsWith("effect.")) return void ask(line);
    if (!line?.classList.contains("line")) return;
    if (kind === "room.marked") {
      line.dataset.mark = mark;
      let said = line.querySelector(".marked");
      if (!said) line.querySelector("header").append(said = make("span", "marked"));
      said.textContent = mark === "keep" ? "kept in mind" : mark === "spent" ? "left out first" : "";
      for (const act of ["keep", "spent"]) {
        line.querySelector(`[data-act=${act}]`).setAttribute("aria-pressed", String(mark === act));
      }
    } else if (kind === "room.line_pinned") {
      deeds.pinned(line, !back);
    } else if (kind === "room.line_edited") {
      if (!html) return; // it came with the page, as it stands
      if (turn) deeds.over(turn);
      const said = line.querySelector(".words");
      said.innerHTML = html; // cleaned by the server
      said.classList.toggle("transcribed", word === "transcribed");
      deeds.code(line);
      for (const each of ["edited", "transcribed", "another version"]) beside(line, each, each === word);
      requote(line);
    } else if (kind === "room.line_deleted") {
      line.querySelector(".words").replaceChildren(make("p", "forgotten", words));
      line.querySelector(".files")?.remove();
      line.querySelectorAll(".tools > :not(.why)").forEach((each) => each.remove());
      requote(line);
    } else if (emoji) {
      deeds.reacted(line, emoji, who, name ?? nameOf(who), back);
    }
  }

  /* A word beside the time. */
  function beside(line, word, stands) {
    const known = [...line.querySelectorAll("header .aside")].find((each) => each.textContent === word);
    if (!stands) known?.remove();
    else if (!known) line.querySelector("header").append(" ", make("span", "aside", word));
  }

  /* Lines that answer this one say what it says now. */
  function requote(line) {
    for (const quote of lines.querySelectorAll(`.quote[data-to="${CSS.escape(line.dataset.id)}"]`)) {
      quote.querySelector(".gist").textContent = gist(line);
    }
  }

  /* Events in the page that only change other lines are applied and taken away. */
  function digest(holder) {
    for (const event of [...holder.querySelectorAll(".event[data-line]")]) {
      change(JSON.parse(event.dataset.change));
      event.remove();
    }
  }

  function add(html) {
    const line = fragment(html).firstElementChild;
    if (!line) return;
    const seq = Number(line.dataset.seq);
    if ($(`l-${seq}`)) return;
    const draft = line.dataset.turn && drafts.querySelector(`[data-turn="${CSS.escape(line.dataset.turn)}"]`);
    if (draft) draft.remove();
    if (line.dataset.mate) thinking.delete(line.dataset.mate);
    if (line.dataset.person) typists.delete(line.dataset.person);
    const last = lines.lastElementChild;
    if (!last || Number(last.dataset.seq) < seq) lines.append(line);
    else [...lines.children].find((each) => Number(each.dataset.seq) > seq).before(line);
    line.classList.add("new");
    equip(line);
    composer.settle(seq);
    soon();
    signs();
    const mine = line.dataset.person === you;
    if (!stuck && line.classList.contains("line")) fresh += 1;
    if (!mine && line.classList.contains("line") && (document.hidden || !document.hasFocus() || !stuck)) { unread += 1; noticed(line); }
    tell();
  }

  /* A page that is open for days stays small. */
  function prune() {
    if (!stuck || lines.childElementCount < 500) return;
    while (lines.childElementCount > 350) lines.firstElementChild.remove();
    oldest = Number(lines.querySelector("[data-seq]").dataset.seq);
    more = true;
    arrange();
  }

  /* ---- who is at it */

  const thinking = new Map(), typists = new Map(), uses = new Map();
  const nameOf = (mate) => scene.querySelector(`[data-handle="${CSS.escape(mate)}"]`)?.dataset.name ?? mate;
  const faceOf = (mate) =>
    scene.querySelector(`[data-handle="${CSS.escape(mate)}"] svg`)?.cloneNode(true) ?? make("span");

  function signs() {
    const shown = $("signs");
    const speaking = new Set([...drafts.querySelectorAll(".draft:not(.withdrawn)")].map((d) => d.dataset.mate));
    const tools = [...uses.values()];
    for (const use of tools) speaking.add(use.mate);
    const minds = [...thinking.keys()].filter((mate) => !speaking.has(mate));
    main.classList.toggle("busy", thinking.size > 0 || speaking.size > 0);
    const key = JSON.stringify([minds, tools, [...typists.keys()]]);
    if (shown.dataset.key === key) return;
    shown.dataset.key = key;
    shown.replaceChildren();
    const thinks = (mate, says, value) => {
      const sign = make("span", `thinks mate-${mate}`);
      sign.append(faceOf(mate), says, value == null ? "" : Object.assign(make("progress"), { value }));
      shown.append(sign);
    };
    for (const mate of minds) thinks(mate, `${thinking.get(mate)} is thinking`);
    for (const use of tools) thinks(use.mate, use.says, use.part);
    for (const { name } of typists.values()) shown.append(make("span", "types", `${name} is typing`));
  }

  function drafted({ turn, mate, name, html, anew }) {
    if (anew) return void deeds.grow(byId(anew), turn, html);
    let draft = drafts.querySelector(`[data-turn="${CSS.escape(turn)}"]`);
    if (!draft) {
      draft = make("article", `line said draft mate-${mate}`);
      Object.assign(draft.dataset, { turn, mate });
      const face = make("div", "portrait"), slab = make("div", "slab"), head = make("header");
      face.append(faceOf(mate));
      head.append(make("b", "who", name), make("span", "when", "speaking"));
      slab.append(head, make("div", "words"));
      slab.lastChild.dir = "auto";
      draft.append(face, slab);
      drafts.append(draft);
    }
    draft.querySelector(".words").innerHTML = html; // cleaned by the server
    signs();
    if (stuck) toFoot();
  }

  function withdrawn({ turn, name, mate, why }) {
    const draft = drafts.querySelector(`[data-turn="${CSS.escape(turn)}"]`);
    thinking.delete(mate);
    deeds.over(turn);
    if (draft) {
      draft.classList.add("withdrawn");
      draft.querySelector(".when").textContent = "taken back";
      draft.querySelector(".slab").append(make("p", "reason", why ? `Taken back: ${why}` : "Taken back."));
      setTimeout(() => {
        draft.classList.add("gone");
        setTimeout(() => draft.remove(), calm.matches ? 0 : 900);
      }, 6000);
    }
    signs();
    if (draft) $("signs").append(make("span", "sr", `${name} took back what they were saying. ${why ?? ""}`));
  }

  /* ---- the stream */

  let source = null, anew, wait = 1000, timer = 0, alone = 0, over = false;

  function connect() {
    clearTimeout(timer);
    source?.close();
    if (over) return;
    source = new EventSource(`${base}/stream?after=${newest}`);
    const on = (kind, hear) => source.addEventListener(kind, (event) => {
      if (Number(event.lastEventId) > newest) newest = Number(event.lastEventId);
      hear(event.data);
    });
    const json = (hear) => (data) => hear(JSON.parse(data));
    on("hello", () => {
      wait = 1000;
      thinking.clear();
      uses.clear();
      drafts.querySelectorAll(".draft:not(.withdrawn)").forEach((draft) => draft.remove());
      signs();
      sign("");
      composer.flush();
      lines.querySelectorAll("[data-asks]:has(form)").forEach(ask);
    });
    on("line", add);
    on("change", json(change));
    on("scene", (html) => {
      if (scene.dataset.shown === html) return;
      scene.dataset.shown = html;
      scene.innerHTML = html; // the server's
      stand();
    });
    on("thinking", json(({ mate, name }) => { thinking.set(mate, name ?? nameOf(mate)); signs(); }));
    on("rested", json(({ turn, mate }) => {
      thinking.delete(mate);
      deeds.over(turn);
      drafts.querySelector(`.draft:not(.withdrawn)[data-turn="${CSS.escape(turn)}"]`)?.remove();
      signs();
    }));
    on("progress", json((use) => {
      uses.set(use.effect, use);
      if (use.over) uses.delete(use.effect);
      signs();
    }));
    on("draft", json(drafted));
    on("withdrawn", json(withdrawn));
    on("typing", json(({ person, name }) => {
      if (person === you) return;
      clearTimeout(typists.get(person)?.timer);
      typists.set(person, { name, timer: setTimeout(() => { typists.delete(person); signs(); }, 5000) });
      signs();
    }));
    on("gone", json(({ why }) => gone(why)));
    source.onerror = lost;
  }

  function lost() {
    if (over) return;
    clearTimeout(alone);
    alone = setTimeout(() => {
      if (source.readyState !== EventSource.OPEN) sign("The home does not answer. Trying again; nothing is lost.");
    }, 1500);
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries by itself
    clearTimeout(timer);
    timer = setTimeout(again, wait * (0.7 + Math.random() * 0.6));
    wait = Math.min(wait * 2, 30000);
  }

  /* The browser gave up, so the server said no: find out whether there is still a room for us. */
  async function again() {
    try {
      const answer = await fetch(base, { redirect: "manual" });
      if (answer.type === "opaqueredirect" || answer.status === 401) return void location.assign(location.href);
      if (answer.status === 404) return void gone("This room is no longer there for you.");
    } catch { /* no server yet */ }
    anew();
  }

  function gone(why) {
    over = true;
    source?.close();
    sign(`${why} Going back to your rooms.`);
    for (const each of text.form.elements) each.disabled = true;
    setTimeout(() => location.assign("/"), 4000);
  }

  function sign(words) {
    if (!words) clearTimeout(alone);
    $("sign").textContent = words;
    $("sign").hidden = !words;
  }

  /* A machine that slept, or changed its network, has a dead stream and does not know it. */
  let tick = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - tick > 90000) anew(); // out of sight a tick may take a minute
    tick = now;
  }, 10000);
  addEventListener("online", () => anew());

  /* ---- scrolling, history, unread */

  let stuck = true, stood = 0, fresh = 0, unread = 0, loading = false, seen = 0, told = 0;
  const toFoot = () => { log.scrollTop = log.scrollHeight; fresh = 0; };
  const atFoot = () => log.scrollHeight - log.scrollTop - log.clientHeight < 80;

  log.addEventListener("scroll", () => {
    const up = log.scrollTop < stood; // only a reader goes up; lines that come push the foot away
    stood = log.scrollTop;
    stuck = atFoot() || (stuck && !up);
    if (stuck) { fresh = 0; note(); }
    if (log.scrollTop < 300) earlier();
    tell();
  }, { passive: true });
  new ResizeObserver(() => { if (stuck && !past) toFoot(); }).observe(lines.parentElement);
  new ResizeObserver(() => { if (stuck && !past) toFoot(); }).observe(log);
  $("fresh").addEventListener("click", () => { toFoot(); text.focus(); });

  async function earlier() {
    if (loading || !more) return;
    loading = true;
    lines.setAttribute("aria-busy", "true");
    lines.setAttribute("aria-live", "off");
    try {
      const answer = await fetch(`${base}/before?seq=${oldest}`, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(20000) });
      if (!answer.ok) throw new Error(String(answer.status));
      const found = fragment(await answer.text()).querySelector(".past");
      more = found.dataset.more === "yes";
      oldest = Number(found.dataset.oldest) || oldest;
      const fromFoot = log.scrollHeight - log.scrollTop;
      const added = [...found.children].filter((line) => !$(line.id));
      lines.prepend(...added);
      added.forEach(equip);
      digest(lines);
      arrange();
      log.scrollTop = log.scrollHeight - fromFoot;
    } catch {
      await new Promise((done) => setTimeout(done, 3000));
    }
    requestAnimationFrame(() => {
      lines.removeAttribute("aria-busy");
      lines.setAttribute("aria-live", "polite");
      loading = false;
      if (more && log.scrollTop < 300 && log.scrollHeight <= log.clientHeight + 300) earlier();
    });
  }

  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) seen = Math.max(seen, Number(target.dataset.seq));
    }
    note();
  }, { root: log, threshold: 0.2 });

  let noting = 0;
  function note() {
    if (document.hidden || !document.hasFocus() || over) return;
    if (stuck && unread) { unread = 0; tell(); }
    if (noting || seen <= told) return;
    noting = setTimeout(saw, 1000);
  }
  async function saw(keepalive) {
    noting = 0;
    const seq = seen, answer = await post("/seen", fields({ seq }), keepalive).catch(() => 0);
    if (answer.ok) told = Math.max(told, seq); // else the next line says it again
  }
  addEventListener("pagehide", () => { if (noting) { clearTimeout(noting); saw(true); } });
  addEventListener("focus", note);
  document.addEventListener("visibilitychange", note);

  function tell() {
    const button = $("fresh");
    button.hidden = stuck;
    button.textContent = past ? "Back to now" : fresh ? `${fresh} new ${fresh === 1 ? "line" : "lines"} ↓` : "To the newest ↓";
    button.classList.toggle("hot", fresh > 0);
    document.title = `${unread ? `(${unread}) ` : ""}${$("title").textContent} · Loopforge`;
  }

  /* What is new since this person was here, while it lies above what is in sight. */
  const back = $("to-unread");
  function since() {
    const mark = lines.querySelector(".day.since"), top = log.getBoundingClientRect().top;
    const above = mark ? mark.getBoundingClientRect().bottom < top : Number(main.dataset.unreadAt) < oldest;
    back.hidden = past || !Number(main.dataset.unread) || !above;
  }
  back.addEventListener("click", (event) => {
    const mark = lines.querySelector(".day.since");
    main.dataset.unread = 0;
    back.hidden = true;
    if (!mark) return; // further up than this page goes: the link leads there
    event.preventDefault();
    stuck = false;
    mark.scrollIntoView({ block: "start", behavior: calm.matches ? "auto" : "smooth" });
    const first = mark.nextElementSibling;
    if (first) first.focus({ preventScroll: true });
  });

  function show(id) {
    const line = $(id);
    if (!line) return false;
    stuck = false;
    line.scrollIntoView({ block: "center", behavior: calm.matches ? "auto" : "smooth" });
    line.classList.remove("flash-line");
    requestAnimationFrame(() => line.classList.add("flash-line"));
    line.focus({ preventScroll: true });
    return true;
  }

  function stand() {
    const { title } = scene.firstElementChild.dataset;
    for (const face of scene.querySelectorAll("[data-handle] svg")) { // those who came since
      const id = `face-${face.closest("[data-handle]").dataset.handle}`;
      if ($(id)) continue;
      const symbol = document.createElementNS(face.namespaceURI, "symbol");
      symbol.id = id;
      symbol.setAttribute("viewBox", "0 0 64 64");
      symbol.append(face.cloneNode(true));
      $("faces").append(symbol);
    }
    for (const each of [$("title"), $("beside").querySelector("[aria-current] span")]) {
      if (each && each.textContent !== title) each.textContent = title;
    }
    if (!past) deeds.last(scene.firstElementChild.dataset);
    tell();
  }

  const composer = compose({ main, scene, drafts, text, saved, make, post, problem, gist, past,
    you, shown: (seq) => Boolean($(`l-${seq}`)), toFoot: () => { stuck = !past; toFoot(); } });

  const deeds = acting({ lines, you, make, post, fields, problem, base, composer, change });
  const noticed = notifications({ room, gist });
  around({ base, text, make, halts: () => over, editLast: deeds.editLast });

  /* ---- clicks and keys */

  const halt = async () => {
    $("stop").classList.add("pressed");
    try {
      const answer = await post("/stop");
      if (!answer.ok) problem(`Nothing was stopped. ${(await answer.json()).error}`);
    } catch { problem("The home does not answer; nothing was stopped."); }
    $("stop").classList.remove("pressed");
  };
  $("stop").addEventListener("submit", (event) => { event.preventDefault(); halt(); });

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    const plainly = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
    let link;
    if ((link = on("[data-act]"))) deeds.act(link);
    else if (plainly) return;
    else if ((link = on("[data-mention]"))) composer.mention(link.dataset.mention);
    else if ((link = on("a.quote, a.jump"))) { if (show(link.hash.slice(1))) { event.preventDefault(); if (sheet.contains(link)) sheet.close("", opener = $(link.hash.slice(1))); } }
    else if ((link = on("a.pins"))) { event.preventDefault(); open(link.href, "Pinned lines", link); if (main.classList.contains("aside-open")) aside(false); }
    else if ((link = on("#lines a.why, #panel a.why"))) { event.preventDefault(); open(link.href, "Why?", link); }
    else if ((link = on("#earlier"))) { event.preventDefault(); earlier(); }
    else if (on("#show-scene")) { event.preventDefault(); aside(true); }
    else if (on("#hide-scene")) { event.preventDefault(); aside(false); }
  });

  let escaped = 0, closed = 0; // twice stops all
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return void (closed = 0);
    const now = Date.now(), last = escaped;
    escaped = 0;
    if (event.defaultPrevented) closed = now;
    else if (main.classList.contains("aside-open")) aside(false, closed = now);
    else if (lines.querySelector(".more[open]")) closed = now, lines.querySelector(".more[open]").open = false;
    else if (sheet.open) sheet.close("", closed = now);
    else if ($("reply-to").value) composer.answer(null, closed = now);
    else if (now - last < 800) halt();
    else if (now - closed > 2000) escaped = now;
  });

  function aside(out) {
    main.classList.toggle("aside-open", out);
    main.querySelector(".talk").inert = out;
    (out ? $("hide-scene") : $("show-scene")).focus();
  }
  narrow.addEventListener("change", () => { if (main.classList.contains("aside-open")) aside(false); });

  /* ---- the panel */

  const sheet = $("sheet"), panel = $("panel");
  let opener = null;
  async function open(url, title, from) {
    opener = from;
    $("sheet-title").textContent = title;
    $("sheet-whole").href = url;
    panel.setAttribute("aria-busy", "true");
    panel.replaceChildren(make("p", "hint loading", "Looking it up"));
    if (!sheet.open) { if (narrow.matches) sheet.showModal(); else sheet.show(); }
    $("sheet-title").focus();
    try {
      await (await import("./side-panel.js")).fill(panel, url);
    } catch {
      panel.replaceChildren(make("p", "flash bad", "The home does not answer. Try again in a moment."));
    }
    panel.removeAttribute("aria-busy");
  }
  $("sheet-close").addEventListener("click", () => sheet.close());
  sheet.addEventListener("close", () => { panel.replaceChildren(); (opener?.isConnected ? opener : text).focus(); });
  const search = (form) => open(`${form.getAttribute("action")}?${fields(new FormData(form))}`, "Search", form.querySelector("input"));
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("role") !== "search") return;
    event.preventDefault();
    search(event.target);
  });

  /* ---- begin */

  lines.querySelectorAll("[data-seq]").forEach(equip);
  digest(lines);
  arrange();
  stand();
  if (past) { stuck = false; $("fresh").addEventListener("click", () => location.assign(base)); }
  if (!(location.hash && show(location.hash.slice(1)))) toFoot();
  tell();
  since();
  composer.begin();
  if (!narrow.matches) text.focus({ preventScroll: true });
  anew = past ? () => {} : following(connect, () => { clearTimeout(timer); source?.close(); });
}
