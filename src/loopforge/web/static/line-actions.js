/* What one can do with a line: answer, react, copy, quote, pin, edit, delete, mark. The server decides
   whether it may be; what came of it is told by the stream, to everybody. */

export function acting({ lines, you, make, post, fields, problem, base, composer, change }) {
  const away = "The home does not answer; nothing was changed.";

  const path = (line) => `/lines/${line.dataset.id}`;

  async function send(to, values) {
    try {
      const answered = await post(to, fields(values));
      if (answered.ok) return true;
      problem((await answered.json()).error);
    } catch { problem(away); }
    return false;
  }

  /* The words as they were written, marks and all. */
  async function words(line) {
    try {
      const answered = await fetch(base + path(line), { headers: { accept: "application/json" } });
      const told = await answered.json();
      if (answered.ok) return told.text;
      problem(told.error);
    } catch { problem(away); }
    return null;
  }

  async function copied(button, text) {
    if (text === null) return;
    const was = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch { button.textContent = "Not allowed"; }
    setTimeout(() => { button.textContent = was; }, 1600);
  }

  /* A line of one's own becomes a field, until it is saved or left as it was. */
  async function edit(line) {
    if (line.querySelector(".editing")) return;
    const text = await words(line);
    if (text === null) return;
    const shown = line.querySelector(".words"), form = make("form", "editing"), field = make("textarea");
    const save = make("button", "button small primary", "Save"), leave = make("button", "button small", "Cancel");
    leave.type = "button";
    field.value = text;
    field.setAttribute("aria-label", "Your line");
    const row = make("div", "row");
    row.append(save, leave);
    form.append(field, row);
    const over = () => { form.remove(); shown.hidden = false; document.getElementById("text").focus(); };
    const grow = () => { field.style.height = "auto"; field.style.height = `${Math.min(field.scrollHeight + 4, innerHeight * 0.5)}px`; };
    leave.addEventListener("click", over);
    field.addEventListener("input", grow);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.preventDefault(); over(); }
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      problem("");
      save.disabled = true;
      if (field.value.trim() === text.trim() || await send(`${path(line)}/edit`, { text: field.value })) over();
      save.disabled = false;
    });
    shown.hidden = true;
    shown.after(form);
    grow();
    field.focus();
    field.setSelectionRange(text.length, text.length);
  }

  function remove(line, button) {
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.textContent = "Delete for good?";
      setTimeout(() => { delete button.dataset.sure; button.textContent = "Delete"; }, 5000);
      return;
    }
    send(`${path(line)}/delete`, {});
  }

  const mine = (line, emoji) =>
    [...line.querySelectorAll(".reaction")].some((each) => each.dataset.emoji === emoji && each.names.has(`person:${you}`));
  const put = (line, emoji) => send(`${path(line)}/react`, { emoji, back: mine(line, emoji) ? "yes" : "" });

  async function quote(line) {
    const text = await words(line);
    if (text !== null) composer.quote(line, text);
  }

  async function mark(line, name) {
    if (await send("/mark", { line: line.dataset.id, mark: name })) change({ kind: "room.marked", line: line.dataset.id, mark: name });
  }

  /* The last line of a mate, and which of its versions stands: it can be said anew, and gone on from. */
  const wanted = (line, what) => send(`${path(line)}/answer`, what);
  function last({ last: id, versions, version, hearing }) {
    listening(hearing);
    lines.querySelectorAll(".line.last").forEach((each) => { if (each.dataset.id !== id) bare(each); });
    const line = id && lines.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (!line || line.querySelector(".source, .words > .forgotten")) return;
    line.classList.add("last");
    line.dataset.version = version;
    let row = line.querySelector(".versions");
    if (!row) line.querySelector(".tools").prepend(row = make("span", "versions"));
    const button = (act, word, told, off) => {
      const made = make("button", "", word);
      made.type = "button";
      made.dataset.act = act;
      made.title = told;
      if (word.length === 1) made.setAttribute("aria-label", told);
      made.disabled = off;
      return made;
    };
    const key = `${version}/${versions}`, held = row.contains(document.activeElement) && document.activeElement.dataset.act;
    if (row.dataset.key === key) return;
    row.dataset.key = key;
    row.replaceChildren();
    if (versions > 1) row.append(
      button("before", "‹", "The version before", version < 2), make("span", "which", `${version} of ${versions}`),
      button("after", "›", "The next version", Number(version) >= Number(versions)));
    if (!line.querySelector(".files")) row.append(button("again", "Try again", "Another answer in place of this one; it stays as a version"));
    row.append(button("more", "Go on", "Let this mate go on from here"));
    if (held) row.querySelector(`[data-act=${held}]:enabled, [data-act=again]`)?.focus();
  }
  /* The line whose voice note is being written down says so, until its words stand there. */
  function listening(id) {
    const line = lines.querySelector(`[data-id="${CSS.escape(id)}"]`);
    const sign = lines.querySelector(".hearing");
    if (sign?.closest(".line") === line) return;
    sign?.remove();
    line?.querySelector(".words").after(make("p", "hint hearing", "Being written down …"));
  }
  function bare(line) {
    line.classList.remove("last");
    line.querySelector(".versions")?.remove();
  }

  /* A version as it comes, in its line's place and not aloud, until it is over. */
  const growing = new Map();
  function grow(line, turn, html) {
    const words = line?.querySelector(".words");
    if (!words) return;
    if (!growing.has(turn)) growing.set(turn, { line, words, was: words.innerHTML });
    line.classList.add("growing");
    words.ariaLive = "off";
    words.innerHTML = html; // cleaned by the server
  }
  function over(turn) {
    const grown = growing.get(turn);
    if (!grown) return;
    growing.delete(turn);
    grown.line.classList.remove("growing");
    grown.words.ariaLive = null;
    grown.words.innerHTML = grown.was;
  }

  /* What the button does that was pressed. */
  async function act(button) {
    const line = button.closest(".line"), name = button.dataset.act;
    if (name !== "delete") button.closest(".more")?.removeAttribute("open");
    problem("");
    switch (name) {
      case "reply": return composer.answer(line);
      case "react": return put(line, button.dataset.emoji ?? button.textContent);
      case "copy": return copied(button, await words(line));
      case "code": return copied(button, button.parentElement.querySelector("code").textContent);
      case "quote": return quote(line);
      case "pin": return send(`${path(line)}/pin`, { back: line.dataset.pinned ?? "" });
      case "again": case "more": return wanted(line, { how: name });
      case "before": case "after": return wanted(line, { version: Number(line.dataset.version) + (name === "after" ? 1 : -1) });
      case "edit": return edit(line);
      case "delete": return remove(line, button);
      default: return mark(line, name);
    }
  }

  /* A line that has just come to the page. */
  function equip(line) {
    if (line.dataset.person !== you) line.querySelectorAll("[data-own]").forEach((each) => each.remove());
    code(line);
  }
  function code(line) {
    for (const block of line.querySelectorAll(".words > pre, .words li > pre, .words blockquote > pre")) {
      const frame = make("div", "code"), button = make("button", "copy-code", "Copy");
      button.type = "button";
      button.dataset.act = "code";
      block.tabIndex = 0;
      block.replaceWith(frame);
      frame.append(block, button);
    }
  }

  function reacted(line, emoji, who, name, back) {
    let shelf = line.querySelector(".reactions");
    if (!shelf) line.querySelector(".slab").append(shelf = make("div", "reactions"));
    let chip = [...shelf.children].find((each) => each.dataset.emoji === emoji);
    if (!chip) {
      if (back) return;
      chip = make("button", "reaction");
      chip.type = "button";
      Object.assign(chip.dataset, { emoji, act: "react" });
      chip.names = new Map();
      shelf.append(chip);
    }
    if (back) chip.names.delete(who);
    else chip.names.set(who, name);
    if (!chip.names.size) return void chip.remove();
    chip.textContent = chip.names.size > 1 ? `${emoji} ${chip.names.size}` : emoji;
    chip.title = [...chip.names.values()].join(", ");
    chip.setAttribute("aria-pressed", String(chip.names.has(`person:${you}`)));
    chip.setAttribute("aria-label", `${emoji} from ${chip.title}`);
  }

  function pinned(line, stands) {
    if (stands) line.dataset.pinned = "yes";
    else delete line.dataset.pinned;
    const button = line.querySelector("[data-act=pin]"), known = line.querySelector(".pinned");
    if (button) button.textContent = stands ? "Unpin" : "Pin";
    if (stands && !known) line.querySelector("header").append(" ", make("span", "pinned", "pinned"));
    if (!stands) known?.remove();
  }

  /* A menu opens to where there is room for it; one is open at a time. */
  lines.addEventListener("toggle", ({ target }) => {
    const menu = target.open && target.querySelector(".pop"), log = lines.closest(".log").getBoundingClientRect();
    if (!menu) return;
    menu.classList.remove("up", "left");
    const { bottom, left, height } = menu.getBoundingClientRect();
    menu.classList.toggle("up", bottom > log.bottom && target.getBoundingClientRect().top - height > log.top);
    menu.classList.toggle("left", left < log.left);
  }, true);
  document.addEventListener("click", (event) => {
    for (const open of lines.querySelectorAll(".more[open]")) if (!open.contains(event.target)) open.open = false;
  });

  return {
    act, equip, code, reacted, pinned, last, grow, over,
    editLast() {
      const own = [...lines.querySelectorAll(".line.mine")].filter((line) => !line.querySelector(".words > .forgotten")).at(-1);
      if (own) edit(own);
      return Boolean(own);
    },
  };
}
