/* What stands beside the map of a run: the floor at a step, the story, and whatever is opened, each a
   fragment of the server's. Knows of the player what it asks for: where it stands, and its events. */

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Panes {
  constructor(root, player) {
    this.root = root;
    this.player = player;
    this.at = player.at;
    const $ = (selector) => root.querySelector(selector);
    this.views = { floor: $("[data-floor]"), story: $("[data-story]"), detail: $("[data-detail]") };
    this.tabs = Object.fromEntries([...root.querySelectorAll("[data-tab]")].map((tab) => [tab.dataset.tab, tab]));
    player.main.addEventListener("click", (event) => this.click(event));
    player.main.addEventListener("submit", (event) => this.seek(event));
    document.addEventListener("lab:step", ({ detail }) => this.stepped(detail));
    document.addEventListener("lab:over", () => { if (this.shown === "story") this.tell(); });
    addEventListener("popstate", ({ state }) => (state?.pane ? this.open(state.pane, { kept: true }) : this.show("floor")));
  }

  click(event) {
    const link = event.target.closest("a[data-pane], a[data-tab], a[data-tale]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if (link.dataset.tab === "story" && this.shown === "story") this.tell({ back: true });
    else if (link.dataset.tab) this.show(link.dataset.tab);
    else if ("tale" in link.dataset) this.page(link.getAttribute("href"));
    else this.open(link.getAttribute("href"), { stay: "keep" in link.dataset });
  }

  seek(event) {
    const form = event.target.closest("form[data-tale]");
    if (!form) return;
    event.preventDefault();
    const day = Number(new FormData(form).get("day"));
    this.page(`${form.getAttribute("action")}?step=${(day - 1) * this.player.perDay}`, `#day-${day}`);
  }

  show(name) {
    if (name === "story") this.tell();
    this.shown = name;
    for (const [key, view] of Object.entries(this.views)) view.hidden = key !== name;
    for (const [key, tab] of Object.entries(this.tabs)) {
      if (key === name) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    }
    this.root.scrollTop = 0;
    this.choose(name === "detail" ? this.path : "");
    if (name === "story") this.mark(this.at);
  }

  async load(path) {
    const answer = await fetch(path, { headers: { "hx-request": "true", accept: "text/html" } }).catch(() => null);
    return answer ? answer.text() : "<p class='hint'>The home does not answer.</p>";
  }

  /* Something of the run, beside the map; with `stay` it is the same thing, seen otherwise. */
  async open(path, { stay = false, kept = false, quiet = false } = {}) {
    if (!quiet) clearTimeout(this.soon); // what somebody opens is not overtaken by what is shown anew
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const html = await this.load(path);
    if (turn !== this.turn) return;
    const view = this.views.detail, top = this.root.scrollTop, held = view.contains(document.activeElement);
    const focus = held && document.activeElement.getAttribute("href");
    view.innerHTML = html; // safe: a template of the server's
    this.path = path;
    this.tabs.detail.textContent = view.querySelector("[data-title]")?.dataset.title ?? "";
    this.tabs.detail.hidden = false;
    if (!quiet) this.show("detail");
    this.run(this.at, this.total);
    if (stay || quiet) {
      this.root.scrollTop = top;
      if (focus) view.querySelector(`[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
      return;
    }
    if (!kept) history.pushState({ pane: path }, "", location.search || "?");
    (view.querySelector("h2") ?? view).focus({ preventScroll: true });
    if (this.root.getBoundingClientRect().top > innerHeight * 0.6) this.root.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
  }

  /* The story, of a long run the days about this step; told anew where the run has grown. */
  async tell({ grown = true, back = false } = {}) {
    const view = this.views.story, tale = view.querySelector(".tale");
    const within = tale && this.at >= Number(tale.dataset.from) && this.at <= Number(tale.dataset.to);
    if (back) this.leafed = false;
    else if (tale && this.leafed) return;
    else if (within && (!grown || view.dataset.of === this.stood())) return;
    if (!tale) view.innerHTML = "<p class='hint floor'>It is being told…</p>";
    if (await this.leaf(`${this.player.stages[0].path}/story?step=${this.at}`) && !this.mark(this.at)) this.reach(this.at);
  }

  /* Other days of the story, which somebody asked for: nothing that goes on by itself turns back. */
  async page(path, to = "h2") {
    this.leafed = true;
    if (!(await this.leaf(path))) return;
    this.mark(this.at, { still: true });
    const found = this.views.story.querySelector(to) ?? this.views.story;
    this.root.scrollTop = 0;
    if (to !== "h2" || this.root.getBoundingClientRect().top < 0) found.scrollIntoView({ block: "start" });
    found.focus({ preventScroll: true });
  }

  async leaf(path) {
    const view = this.views.story, of = this.stood(), turn = (this.leaves = (this.leaves ?? 0) + 1);
    const html = await this.load(path);
    if (turn !== this.leaves) return false;
    view.innerHTML = html; // safe, as above
    view.dataset.of = of;
    return true;
  }

  /* How far the run had come, and whether it was going. */
  stood() { return `${this.player.steps} ${this.player.live ? "going" : "over"}`; }

  stepped({ step, playing, total }) {
    this.at = step;
    this.total = total;
    this.tabs.floor.href = `?step=${step}`;
    this.tabs.story.href = `${this.player.stages[0].path}/story?step=${step}`;
    this.run(step, total);
    clearTimeout(this.soon);
    const itself = playing || this.player.following;
    if (!itself) this.leafed = false;
    if (this.shown === "story") {
      this.mark(step, { still: this.leafed });
      this.soon = setTimeout(() => this.tell({ grown: false }), playing ? 0 : 150);
    }
    if (this.shown === "detail" && !playing && /\/(robots|places)\//.test(this.path)) {
      this.soon = setTimeout(() => {
        const path = new URL(this.path, location.href);
        path.searchParams.set("step", step);
        this.open(path.pathname + path.search, { quiet: true });
      }, 250);
    }
    if (this.shown === "detail") this.choose(this.path);
  }

  /* The mark of this step in every chart. */
  run(step) {
    for (const mark of this.views.detail.querySelectorAll(".playhead")) {
      const last = Number(mark.dataset.last), wide = mark.ownerSVGElement.viewBox.baseVal.width;
      const x = Math.min(wide, ((step + 1) * wide) / (last + 1));
      mark.setAttribute("transform", `translate(${x} 0)`);
    }
  }

  /* The sentences that rest on this step. */
  mark(step, { still = false } = {}) {
    let first = null;
    for (const each of this.views.story.querySelectorAll("[data-steps]")) {
      const on = each.dataset.steps.split(" ").includes(String(step));
      each.classList.toggle("now", on);
      if (on && (!first || each.dataset.step === String(step))) first ??= each;
    }
    if (first && !still && this.shown === "story") this.bring(first, 3);
    return first;
  }

  /* The day of this step, where no sentence rests on it. */
  reach(step) {
    const day = this.views.story.querySelector(`#day-${Math.floor(step / this.player.perDay) + 1}:not(:first-of-type)`);
    if (day && this.shown === "story") this.bring(day, 8);
  }

  /* Into sight, at such a part of the pane. */
  bring(what, part) {
    const box = what.getBoundingClientRect(), here = this.root.getBoundingClientRect();
    if (this.root.scrollHeight > this.root.clientHeight && (box.top < here.top + 50 || box.bottom > here.bottom)) {
      this.root.scrollTo({ top: this.root.scrollTop + box.top - here.top - here.height / part, behavior: calm.matches ? "auto" : "smooth" });
    }
  }

  /* Whoever is looked at is marked on the map and the floor. */
  choose(path) {
    const found = decodeURIComponent(path.match(/\/(?:robots|places)\/([^?]+)/)?.[1] ?? "");
    for (const each of this.player.main.querySelectorAll("[data-bot], [data-place]")) {
      each.classList.toggle("chosen", Boolean(found) && each.dataset.name === found);
    }
  }
}
