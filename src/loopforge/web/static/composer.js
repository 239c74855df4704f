/* The composer of a room: writing, answering, mentioning, files, and the outbox, which keeps what was
   sent until the room has it. Each line has a `source` made once, so sending it again says it once. */

const $ = (id) => document.getElementById(id);

export function compose({ main, scene, drafts, text, saved, make, post, problem, gist, past, you, shown, toFoot }) {
  const composer = text.form;

  let waiting = [], typed = 0, screen = null;
  const limit = Number(main.dataset.limit), most = Number(main.dataset.most), together = Number(main.dataset.all);
  const bytes = (n) => (n < 1e6 ? `${Math.max(1, Math.round(n / 1e3))} kB` : `${(n / 1e6).toFixed(1)} MB`);

  function grow() {
    text.style.height = "auto"; // set by script, which the policy allows
    text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
    composer.classList.toggle("ready", Boolean(text.value.trim() || waiting.length));
  }

  function answer(line) {
    const bar = $("replying");
    $("reply-to").value = line ? line.dataset.id : "";
    bar.hidden = !line;
    if (line) bar.querySelector(".gist").textContent = gist(line);
    text.focus();
  }
  $("replying").querySelector("button").addEventListener("click", () => answer(null));

  /* Why a file cannot go with these. */
  const amiss = (file, files) =>
    file.size > limit ? `${file.name} is larger than ${bytes(limit)}, the most here.`
      : files.length >= most ? `At most ${most} files go with one line.`
        : files.reduce((sum, each) => sum + each.size, file.size) > together ? `Files of ${bytes(together)} together are the most for one line; send the rest with the next.` : "";

  function attach(files) {
    const not = files.map((file) => amiss(file, waiting) || void waiting.push(file)).filter(Boolean);
    problem([...new Set(not)].join(" ") + (not[1] ? ` ${not.length} files were not added.` : ""));
    const shelf = $("waiting");
    shelf.replaceChildren(...waiting.map((file) => {
      const chip = make("li", "file"), drop = make("button", "icon", "×");
      drop.type = "button";
      drop.setAttribute("aria-label", `Do not send ${file.name}`);
      drop.addEventListener("click", () => { waiting = waiting.filter((each) => each !== file); attach([]); });
      chip.append(make("span", "name", file.name), make("span", "size", bytes(file.size)), drop);
      return chip;
    }));
    shelf.hidden = !waiting.length;
    $("files").value = "";
    grow();
  }
  $("files").addEventListener("change", (event) => attach([...event.target.files]));
  text.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) { event.preventDefault(); attach([...event.clipboardData.files]); }
  });
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  main.addEventListener("dragover", (event) => { if (carries(event)) { event.preventDefault(); main.classList.add("drop"); } });
  main.addEventListener("dragleave", (event) => { if (!main.contains(event.relatedTarget)) main.classList.remove("drop"); });
  main.addEventListener("drop", (event) => {
    main.classList.remove("drop");
    if (carries(event)) { event.preventDefault(); attach([...event.dataTransfer.files]); }
  });

  text.addEventListener("input", () => {
    grow();
    saved("text", text.value);
    names();
    if (text.value && Date.now() - typed > 3000) {
      typed = Date.now();
      post("/typing").catch(() => {});
    }
  });
  text.addEventListener("keydown", (event) => {
    if (event.isComposing || choose(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      composer.requestSubmit();
    }
  });
  for (const line of document.querySelectorAll("[data-say]")) { // lines that stand there to be clicked
    line.addEventListener("click", () => {
      text.value = line.dataset.say;
      composer.requestSubmit();
      text.focus();
    });
  }
  composer.addEventListener("submit", (event) => {
    event.preventDefault();
    problem("");
    const words = text.value;
    told("");
    if (!words.trim() && !waiting.length) return;
    if (/^\s*\/[^\s/]+(\s|$)/.test(words) && !waiting.length) return void order(words);
    document.querySelector(".examples")?.remove();
    send({ source: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text: words, reply_to: $("reply-to").value, files: waiting, still: screen?.still() });
    text.value = "";
    waiting = [];
    saved("text", "");
    attach([]);
    answer(null);
    closeNames();
  });

  /* What begins with a slash is for the room, as in a terminal; its answer is for this person alone. */
  const told = (answer) => { $("told").textContent = answer; $("told").hidden = !answer; };
  const away = (event) => { event.preventDefault(); told(""); text.focus(); };
  $("close-told").addEventListener("click", away);
  composer.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !$("told").hidden) away(event);
  });
  async function order(words) {
    try {
      const answered = await post("/command", new URLSearchParams({ text: words })), { error, told: answer } = await answered.json();
      if (!answered.ok) return problem(error);
      told(answer);
      if (text.value !== words) return;
      text.value = "";
      saved("text", "");
      grow();
    } catch { problem("The home does not answer; nothing was done."); }
  }

  /* Who could be meant by what stands behind an @. */
  const list = $("names");
  let picked = 0;
  function names() {
    const at = /(?:^|[\s(])@([\p{L}\p{N}_-]*)$/u.exec(text.value.slice(0, text.selectionStart));
    const all = [...scene.querySelectorAll("[data-handle], [data-person-id]")].filter((each) => each.dataset.personId !== you);
    const begun = at?.[1].toLowerCase();
    const found = at ? all.filter(({ dataset: d }) => [d.handle, ...d.name.split(" ")].some((n) => n?.toLowerCase().startsWith(begun))).slice(0, 8) : [];
    if (!found.length) return closeNames();
    picked = 0;
    list.replaceChildren(...found.map((each, n) => {
      const { handle, name } = each.dataset, item = make("li", handle ? `mate-${handle}` : "");
      item.id = `name-${n}`;
      item.setAttribute("role", "option");
      item.dataset.put = handle ?? name;
      item.append(each.querySelector("svg").cloneNode(true), make("b", "", name), make("small", "", handle ? `@${handle}` : ""));
      item.addEventListener("mousedown", (event) => { event.preventDefault(); put(item); });
      return item;
    }));
    list.hidden = false;
    const says = { role: "combobox", "aria-autocomplete": "list", "aria-controls": "names", "aria-expanded": "true" };
    for (const [name, value] of Object.entries(says)) text.setAttribute(name, value);
    mark();
  }
  function mark() {
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === picked)));
    text.setAttribute("aria-activedescendant", `name-${picked}`);
    list.children[picked].scrollIntoView({ block: "nearest" });
  }
  function closeNames() {
    if (list.hidden) return;
    list.hidden = true;
    for (const name of ["role", "aria-autocomplete", "aria-controls", "aria-expanded", "aria-activedescendant"]) text.removeAttribute(name);
  }
  function put(item) {
    const upto = text.selectionStart, start = text.value.lastIndexOf("@", upto - 1);
    text.setRangeText(`@${item.dataset.put} `, start, upto, "end");
    closeNames();
    text.dispatchEvent(new Event("input"));
  }
  function choose(event) {
    if (list.hidden) return false;
    const count = list.children.length;
    if (event.key === "ArrowDown") picked = (picked + 1) % count;
    else if (event.key === "ArrowUp") picked = (picked + count - 1) % count;
    else if (event.key === "Escape") { closeNames(); event.preventDefault(); return true; }
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") { put(list.children[picked]); event.preventDefault(); return true; }
    else return false;
    mark();
    event.preventDefault();
    return true;
  }
  text.addEventListener("blur", closeNames);

  /* ---------------------------------------------------------------- the outbox: what is on its way */

  let outbox = [], sending = false, patience = 2000, retry = 0;
  const keep = () => {
    const left = outbox.map(({ source, text: words, reply_to, seq, files, still }) => ({ source, text: words, reply_to, seq, more: files.length || still ? 1 : 0 }));
    const own = left.filter((one) => !one.more || !one.seq);
    saved("outbox", own.length ? JSON.stringify(own) : "");
  };

  function send(one) {
    const line = make("article", "line heard mine sending"), slab = make("div", "slab");
    slab.append(make("div", "words", one.text), make("p", "reason", one.still ? "With a still of your screen." : one.files.length ? `${one.files.length} files` : ""));
    line.append(slab);
    drafts.append(line);
    one.line = line;
    outbox.push(one);
    keep();
    toFoot();
    flush();
  }

  /* The files of a line, and the still of a screen that goes with it. */
  async function cargo(one) {
    const { file, why } = (await one.still) ?? {}, not = why ?? (file ? amiss(file, one.files) : "");
    if (not) problem(`${not} Your line goes without a still.`);
    return file && !not ? [...one.files, file] : one.files;
  }

  async function flush() {
    const one = outbox.find((each) => !each.refused && !each.seq);
    if (sending || !one) return;
    sending = true;
    clearTimeout(retry);
    const body = new FormData();
    for (const name of ["source", "text", "reply_to"]) body.set(name, one[name] ?? "");
    let bytes = 0, waits = "";
    for (const file of await cargo(one)) { body.append("files", file, file.name); bytes += file.size; }
    try { // what a dead connection swallowed is sent again
      const answered = await post("/lines", body, false, AbortSignal.timeout(20000 + bytes / 4));
      if (answered.ok) {
        one.seq = (await answered.json()).seq;
        patience = 2000;
        keep();
        if (shown(one.seq) || past) settle(one.seq);
        if (past) location.assign(location.pathname); // to where it was said
      } else if (answered.status === 429 || answered.status >= 500) {
        waits = answered.status === 429 ? (await answered.json()).error : " ";
      } else {
        refused(one, (await answered.json().catch(() => ({}))).error ?? "The home would not take this line.");
      }
    } catch { waits = " "; }
    sending = false;
    if (!waits) return void flush();
    one.line.classList.add("late");
    one.line.querySelector(".reason").textContent = `Not sent yet. It is kept here and tried again. ${waits}`;
    retry = setTimeout(flush, patience);
    patience = Math.min(patience * 2, 30000);
  }

  /* The line is in the room: what stood here for it goes. */
  function settle(seq) {
    const one = outbox.find((each) => each.seq === seq);
    if (!one) return;
    one.line.remove();
    outbox = outbox.filter((each) => each !== one);
    keep();
  }

  function refused(one, why) {
    one.refused = true;
    if (one.still) screen.refused();
    one.line.classList.add("refused");
    const reason = one.line.querySelector(".reason"), edit = make("button", "button small", "Change it"), drop = make("button", "button small", "Drop it");
    const away = () => { one.line.remove(); outbox = outbox.filter((each) => each !== one); keep(); text.focus(); };
    edit.addEventListener("click", () => { text.value = one.text; waiting = one.files; attach([]); grow(); away(); });
    drop.addEventListener("click", away);
    reason.textContent = why;
    reason.setAttribute("role", "alert");
    reason.after(edit, drop);
  }

  /* A screen that is shared still by still, and a voice note where the home has a model that hears. The browser is asked
     within the press, as it wants it; the part that goes on with what it gives is loaded then. */
  const media = navigator.mediaDevices;
  function equip(button, able, ask, start, purpose) {
    if (!button || !able || past) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const chosen = ask();
      chosen.catch(() => {}); // it is told of over there
      try {
        await start({ ask, chosen, button, text, limit, make, problem });
      } catch {
        problem(`The home does not answer; load this page again to ${purpose}.`);
        chosen.then((stream) => stream.getTracks().forEach((each) => each.stop()), () => {});
      }
    }, { once: true });
  }
  equip($("screen"), media?.getDisplayMedia, () => media.getDisplayMedia({ video: true }), async (given) => {
    const { sharing } = await import("./screen-sharing.js");
    screen = sharing({ ...given, saved, amiss: (file) => amiss(file, waiting) });
  }, "share your screen");
  equip($("voice"), media?.getUserMedia && window.MediaRecorder, () => media.getUserMedia({ audio: true }), async (given) => {
    const { recording } = await import("./voice-recording.js");
    recording({ ...given, attach });
  }, "record a voice note");

  return {
    answer,
    quote(line, words) {
      text.value = `${words.trim().replace(/^/gm, "> ")}\n\n${text.value}`;
      answer(line);
      text.setSelectionRange(text.value.length, text.value.length);
      grow();
    },
    flush,
    settle,
    mention(handle) {
      text.value = `@${handle} ${text.value}`;
      text.focus();
      grow();
    },
    /* What was being written or sent when the page was left. */
    begin() {
      const kept = JSON.parse(saved("outbox") || "[]"), back = kept.filter((one) => one.more);
      text.value = [saved("text") || text.value, ...back.map((one) => one.text)].filter(Boolean).join("\n");
      saved("text", text.value);
      grow();
      problem([
        saved("screen") ? "Your screen is not shared any more: the page was left." : "",
        back.length ? "A line with files was on its way when the page was left. If it is not in the room: its words are here again, its files are not." : "",
      ].join(" ").trim());
      saved("screen", "");
      keep();
      for (const { source, text: words, reply_to } of kept.filter((one) => !one.more)) send({ source, text: words, reply_to, files: [] });
    },
  };
}
