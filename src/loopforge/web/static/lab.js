/* The page of a run: plays its steps on the map, and follows the run while it grows. The server's
   HTML shows one step whole, and without this every step has a page; this asks for steps in pages
   of plain numbers and moves what is on the map. */

import { following } from "./held-streams.js";
import { Panes } from "./lab-panes.js";

const narrow = matchMedia("(max-width: 599px)");
const EACH = 1000; // milliseconds for a step at the speed of one
const NS = "http://www.w3.org/2000/svg";
const make = (name, attributes = {}) => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const numbers = (text) => text.split(" ").map(Number);

/* ---- the map */

class City {
  constructor(svg) {
    this.svg = svg;
    this.scale = Number(svg.dataset.scale);
    this.spots = [...svg.querySelectorAll("[data-place]")].map((root) => ({
      root,
      wide: numbers(root.dataset.at),
      tall: numbers(root.dataset.tall),
      bars: [...root.querySelectorAll("[data-bar]")],
      cry: svg.querySelector(`[data-what="${root.dataset.place}"]`),
    }));
    this.bots = [...svg.querySelectorAll("[data-bot]")].map((root) => ({
      root,
      mood: root.querySelector("[data-mood]"),
      charge: root.querySelector(".charge"),
      mark: root.querySelector(".mark"),
      ear: root.querySelector(".ear"),
      place: -1,
    }));
    this.waves = svg.querySelector(".waves");
    this.ways = new Map([...svg.querySelectorAll("[data-way]")].map((way) => [way.dataset.way, way]));
    this.turn();
    narrow.addEventListener("change", () => { this.turn(); if (this.shown) this.show(this.shown, false); });
  }

  /* Wide windows and phones have a layout each. */
  turn() {
    this.layout = narrow.matches ? "tall" : "wide";
    const [w, h] = numbers(this.svg.dataset[this.layout]);
    this.svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
    for (const { root, cry, ...at } of this.spots) {
      const [x, y] = at[this.layout];
      for (const each of [root, cry]) each.setAttribute("transform", `translate(${x} ${y}) scale(${this.scale})`);
    }
    this.svg.querySelectorAll("[data-ground]").forEach((each) => {
      each.setAttribute("transform", `translate(${this.at(Number(each.dataset.ground)).join(" ")}) scale(${this.scale})`);
    });
    for (const [key, way] of this.ways) {
      const [[ax, ay], [bx, by]] = numbers(key).map((nth) => this.at(nth));
      for (const path of way.children) path.setAttribute("d", `M${ax} ${ay - 6}L${bx} ${by - 6}`);
    }
  }

  at(nth) { return this.spots[nth][this.layout]; }

  /* Put a step on the map. Where it does not follow on the one before, nothing glides. */
  show(step, glide) {
    this.shown = step;
    this.svg.classList.toggle("leaping", !glide);
    const hurt = new Map(step.hurt.map(([at, kind]) => [at, kind]));
    const still = new Set(step.still);
    this.spots.forEach((spot, nth) => {
      step.places[nth].forEach((value, n) => this.light(spot.bars[n], value));
      spot.root.classList.toggle("still", still.has(nth));
      spot.root.classList.remove("hurt");
      if (hurt.has(nth)) {
        void spot.root.getBBox(); // so that the same place can flash twice
        spot.root.classList.add("hurt");
      }
      spot.cry.firstElementChild.textContent = hurt.get(nth) ?? (still.has(nth) ? "stands still" : "");
      spot.cry.firstElementChild.classList.toggle("alarm", hurt.has(nth));
    });
    for (const way of this.ways.values()) way.classList.remove("walked");
    step.bots.forEach((told, nth) => this.stand(this.bots[nth], told, step.message));
    this.speak(step.message);
  }

  /* The Supervisor's voice goes out over the city in its colour. */
  speak(message) {
    this.waves?.setAttribute("class", `waves say-${message}`);
    if (!this.waves || message === "silence") return;
    void this.waves.getBBox();
    this.waves.classList.add("speaking");
  }

  light(bar, value) {
    const of = Math.min(1000, Math.abs(value) * (bar.dataset.of === "bias" ? 2 : 1));
    bar.style.transform = `scaleY(${of / 1000})`;
    bar.setAttribute("class", `lit l${Math.min(4, Math.floor(of / 200))}`);
  }

  stand(bot, [place, x, y, battery, mood, mode, came, heard], meant) {
    const k = this.scale, [px, py] = this.at(place);
    bot.root.style.transform = `translate(${px + x * k}px, ${py + y * k}px) scale(${k})`;
    bot.root.setAttribute("class", bot.root.getAttribute("class").replace(/mood-\w+/, `mood-${mood}`));
    bot.mood.setAttribute("href", `#mood-${mood}`);
    bot.charge.style.transform = `translate(-13px, 0) scaleX(${battery / 1000}) translate(13px, 0)`;
    bot.charge.classList.toggle("low", battery < 250);
    bot.mark.setAttribute("class", `mark ${mode} ${came}`);
    bot.ear?.setAttribute("class", `ear say-${heard}${heard === meant ? "" : " misheard"}`);
    const { name, role } = bot.root.dataset;
    bot.root.setAttribute("aria-label", `${name}, ${role}: ${mood}, at ${this.spots[place].root.dataset.name}`);
    if (bot.place >= 0 && bot.place !== place) {
      const way = [bot.place, place].sort((a, b) => a - b).join(" ");
      this.ways.get(way)?.classList.add("walked");
    }
    bot.place = place;
  }
}

/* ---- a run's steps */

class Stage {
  constructor(root, floor) {
    this.root = root;
    this.floor = floor;
    this.path = root.dataset.path;
    this.size = Number(root.dataset.size);
    this.steps = Number(root.dataset.steps ?? root.closest("main").dataset.steps);
    this.state = root.dataset.state ?? root.closest("main").dataset.state;
    this.city = new City(root.querySelector("[data-city]"));
    this.pages = new Map();
    this.shown = -2;
  }

  /* A step, from a page of steps; a page that was not whole is asked for anew. */
  async step(n) {
    const first = n - (n % this.size);
    let page = this.pages.get(first);
    const known = await page?.catch(() => null);
    if (!known || first + known.steps.length <= n) {
      page = fetch(`${this.path}/steps?first=${first}`, { headers: { accept: "application/json" } })
        .then(async (answer) => {
          const found = await answer.json();
          if (!answer.ok) throw Object.assign(new Error(answer.status), { told: found.error });
          return found;
        });
      this.pages.set(first, page);
      if (this.pages.size > 40) this.pages.delete(this.pages.keys().next().value);
    }
    return (await page).steps[n - first];
  }

  ahead(n) { this.step(n).catch(() => {}); }

  /* Where a run is shorter than the one beside it, its last step stays. */
  within(n) { return Math.max(0, Math.min(n, this.steps - 1)); }

  async show(n) {
    const step = await this.step(n);
    if (!step) return;
    this.city.show(step, Math.abs(n - this.shown) === 1);
    for (const link of this.root.querySelectorAll("[data-bot], [data-place]")) {
      link.setAttribute("href", link.getAttribute("href").replace(/\?.*|$/, `?step=${n}`));
    }
    this.shown = n;
    if (this.floor) {
      const top = this.floor.contains(document.activeElement);
      this.floor.innerHTML = step.html; // safe: a template of the server's
      if (top) this.floor.focus({ preventScroll: true });
    }
  }
}

/* ---- the line through time */

class Course {
  constructor(root, perDay, parted) {
    this.svg = root.querySelector("svg");
    Object.assign(this, { perDay, parted, briefs: [] });
    this.glow = `tension-${(Course.count = (Course.count ?? 0) + 1)}`;
  }

  draw(total) {
    const n = Math.max(total, this.briefs.length, 2), w = 1000 / (n - 1); // as the range input has it
    const wide = Math.max(1, Math.ceil(this.briefs.length / 500)); // steps that share a point
    let line = "", hits = "", days = "", kept = "", broke = "";
    for (let at = 0; at < this.briefs.length; at += wide) {
      const some = this.briefs.slice(at, at + wide), x = (at * w).toFixed(1), width = (w * wide * 0.8).toFixed(1);
      const left = (at * w - w * wide * 0.4).toFixed(1);
      const most = (k) => Math.max(...some.map((each) => each[k]));
      line += `L${x} ${(82 - most(0) * 0.075).toFixed(1)}`;
      if (most(1)) hits += `M${x} 2V${4 + (n > 300 ? 3 : 6) * Math.min(4, most(1))}`;
      const tall = (k) => Math.min(8, 2.5 * most(k));
      if (most(2)) kept += `M${left} ${91 - tall(2)}h${width}V91h-${width}z`;
      if (most(3)) broke += `M${left} ${100 - tall(3)}h${width}V100h-${width}z`;
    }
    for (let at = this.perDay; at < n; at += this.perDay * Math.max(1, Math.ceil(n / this.perDay / 60))) days += `M${(at * w).toFixed(1)} 0V100`;
    const end = Math.min(1000, (this.briefs.length - 1) * w).toFixed(1);
    const edge = line ? `M0${line.slice(line.indexOf(" "))}` : "";
    const parts = [
      make("path", { class: "day", d: days || "M0 0" }),
      make("path", { class: "tension", d: edge ? `${edge}L${end} 82H0z` : "M0 0", fill: `url(#${this.glow})` }),
      make("path", { class: "edge", d: edge || "M0 0" }),
      make("path", { class: "kept", d: kept || "M0 0" }),
      make("path", { class: "broke", d: broke || "M0 0" }),
      make("path", { class: n > 300 ? "hit dense" : "hit", d: hits || "M0 0" }),
    ];
    if (this.parted >= 0) parts.push(make("path", { class: "parted", d: `M${(this.parted * w).toFixed(1)} 0V100` }));
    if (this.briefs.length < n) parts.push(make("rect", { class: "yet", x: end, width: 1000 - end, height: 100 }));
    const defs = make("defs"), glow = make("linearGradient", { id: this.glow, x2: 0, y2: 1 });
    glow.append(make("stop", { offset: 0, "stop-color": "#ff8d55", "stop-opacity": 0.75 }), make("stop", { offset: 1, "stop-color": "#ff8d55", "stop-opacity": 0.04 }));
    defs.append(glow);
    this.svg.replaceChildren(defs, ...parts);
  }

  /* The next step after this one, in this direction, with an incident. */
  incident(from, way) {
    for (let at = from + way; at >= 0 && at < this.briefs.length; at += way) if (this.briefs[at][1]) return at;
    return from;
  }
}

/* ---- playing */

class Player {
  constructor(main, stages) {
    this.main = main;
    this.stages = stages;
    const $ = (selector) => main.querySelector(selector);
    this.steps = Number(main.dataset.steps);
    this.planned = Number(main.dataset.planned);
    this.perDay = Number(main.dataset.perDay);
    this.at = Number(main.dataset.at);
    this.speed = 1;
    this.scrub = $("#scrub");
    this.clock = $("#clock");
    this.speeds = $("[data-speed]");
    this.liveKey = $("[data-act=live]");
    const parted = Number(main.dataset.parted ?? -1);
    this.courses = [...main.querySelectorAll("[data-course]")].map((root) => new Course(root, this.perDay, parted));
    this.scrub.classList.add("scrub");
    main.querySelectorAll(".keys [hidden]").forEach((each) => { if (each !== this.liveKey) each.hidden = false; });
    main.addEventListener("click", (event) => this.click(event));
    this.scrub.addEventListener("input", () => { this.pause(); this.go(Number(this.scrub.value)); });
    this.speeds.addEventListener("change", () => { this.speed = Number(this.speeds.value); });
    $(".jump").addEventListener("submit", (event) => {
      event.preventDefault();
      this.pause();
      this.go(Number($("#jump").value));
    });
    document.addEventListener("keydown", (event) => this.key(event));
    stages.forEach((stage, nth) => this.learn(stage, this.courses[nth]));
    this.tell();
    if (this.steps) this.go(this.at, true);
    stages.forEach((stage, nth) => { if (/running|waiting/.test(stage.state)) this.follow(stage, this.courses[nth]); });
  }

  async learn(stage, course) {
    const answer = await fetch(`${stage.path}/course`, { headers: { accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) return;
    const { briefs } = await answer.json();
    if (briefs.length > course.briefs.length) course.briefs = briefs;
    course.draw(this.total());
  }

  /* While it grows the line has room for all that is planned. */
  total() { return this.live ? this.planned : this.steps; }

  async go(n, first = false) {
    n = Math.max(0, Math.min(this.steps - 1, Math.floor(n) || 0));
    this.at = n;
    this.tell();
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      await Promise.all(this.stages.map((stage) => stage.step(stage.within(n))));
    } catch ({ told }) {
      if (this.playing) this.pause();
      this.stood ??= document.getElementById("lab-sign").textContent; // and stands there again
      this.sign(told ?? "The home does not answer. Trying again when you go on.");
      return;
    }
    if (turn !== this.turn) return;
    if (this.stood !== undefined) this.sign(this.stood);
    this.stood = undefined;
    for (const stage of this.stages) await stage.show(stage.within(n));
    if (this.playing) for (const stage of this.stages) if (n + stage.size < stage.steps) stage.ahead(n + stage.size);
    for (const link of this.main.querySelectorAll("[data-here]")) link.href = `${link.pathname}?step=${n}`;
    document.dispatchEvent(new CustomEvent("lab:step", { detail: { step: n, playing: this.playing, total: this.steps } }));
    if (!first && !this.playing) history.replaceState(history.state, "", `?step=${n}`);
  }

  tell() {
    this.scrub.max = Math.max(0, this.total() - 1);
    this.scrub.value = this.at;
    this.scrub.disabled = !this.steps;
    const words = this.steps ? `day ${Math.floor(this.at / this.perDay) + 1}, step ${this.at}` : "not begun";
    this.clock.textContent = words;
    this.scrub.setAttribute("aria-valuetext", words);
    const jump = this.main.querySelector("#jump");
    jump.max = Math.max(0, this.steps - 1);
    if (document.activeElement !== jump) jump.value = this.at;
  }

  play() {
    if (this.at >= this.steps - 1 && !this.live) this.go(0);
    this.playing = true;
    this.clock.setAttribute("aria-live", "off"); // nobody wants every step read out
    this.main.classList.add("playing");
    this.main.querySelector("[data-act=play]").setAttribute("aria-label", "Pause");
    this.beat();
  }

  beat() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (!this.playing) return;
      if (this.at < this.steps - 1) await this.go(this.at + 1);
      else if (!this.live) return this.pause();
      this.beat();
    }, EACH / this.speed);
  }

  pause() {
    this.playing = false;
    this.clock.removeAttribute("aria-live");
    clearTimeout(this.timer);
    this.main.classList.remove("playing");
    this.main.querySelector("[data-act=play]").setAttribute("aria-label", "Play");
    this.hold(false);
    if (this.steps) history.replaceState(history.state, "", `?step=${this.at}`);
  }

  act(name) {
    const day = this.perDay;
    switch (name) {
      case "play": return this.playing ? this.pause() : this.play();
      case "back": this.pause(); return this.go(this.at - 1);
      case "on": this.pause(); return this.go(this.at + 1);
      case "first": this.pause(); return this.go(0);
      case "last": this.pause(); this.hold(this.live); return this.go(this.steps - 1);
      case "day-back": this.pause(); return this.go(Math.ceil(this.at / day - 1) * day);
      case "day-on": this.pause(); return this.go(Math.floor(this.at / day + 1) * day);
      case "next": this.pause(); return this.go(this.incident(1));
      case "before": this.pause(); return this.go(this.incident(-1));
      case "live": this.pause(); this.hold(true); return this.go(this.steps - 1);
      case "faster": case "slower": {
        const to = this.speeds.selectedIndex + (name === "faster" ? 1 : -1);
        this.speeds.selectedIndex = Math.max(0, Math.min(this.speeds.options.length - 1, to));
        this.speed = Number(this.speeds.value);
      }
    }
    return undefined;
  }

  /* The next step, in this direction, in which something broke in any of the runs. */
  incident(way) {
    const found = this.courses.map((course) => course.incident(this.at, way)).filter((at) => at !== this.at);
    return found.length ? found.reduce((one, other) => ((one - other) * way < 0 ? one : other)) : this.at;
  }

  click(event) {
    const link = event.target.closest("a[data-step]");
    if (link && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.pause();
      this.go(Number(link.dataset.step));
      return;
    }
    const key = event.target.closest("[data-act]");
    if (!key || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.act(key.dataset.act);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const pressed = event.target.closest("a, button, summary") && (event.key === " " || event.key === "Enter");
    const act = { " ": "play", k: "play", ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", "[": "day-back", "]": "day-on", i: "next", I: "before", "+": "faster", "-": "slower" }[event.key];
    const reading = event.target.closest("[data-panes]") && /^(Home|End)$/.test(event.key);
    if (!act || pressed || reading) return;
    event.preventDefault();
    this.act(act);
  }

  /* ---- while it grows */

  hold(on) {
    this.following = Boolean(on);
    this.liveKey.setAttribute("aria-pressed", String(this.following));
  }

  follow(stage, course) {
    this.live = (this.live ?? 0) + 1;
    this.liveKey.hidden = false;
    this.hold(!this.steps || this.at >= this.steps - 1);
    let source = null, ended = false;
    const again = following(() => {
      source?.close();
      if (ended) return;
      source = new EventSource(`${stage.path}/stream?after=${stage.steps}`);
      const on = (kind, hear) => source.addEventListener(kind, (event) => hear(JSON.parse(event.data)));
      on("steps", ({ first, closed, briefs, rates }) => {
        course.briefs.splice(first, briefs.length, ...briefs);
        stage.steps = Math.max(stage.steps, closed);
        this.steps = Math.max(this.steps, stage.steps);
        this.main.querySelectorAll("[data-rate]").forEach((each) => { each.textContent = rates[each.dataset.rate]; });
        course.draw(this.total());
        this.tell();
        if (this.following) this.go(this.steps - 1);
      });
      on("state", ({ state, told }) => { this.stands(state); this.sign(told); });
      on("over", ({ state }) => { ended = true; source.close(); this.over(stage, course, state); });
      on("gone", () => { source.close(); import("./page-reload.js").then(({ reload }) => reload()); });
      on("hello", () => { this.wait = 1000; this.sign(""); });
      source.onerror = () => {
        this.sign("The home does not answer. Trying again; nothing is lost.");
        if (source.readyState !== EventSource.CLOSED) return; // the browser tries by itself
        this.wait = Math.min(30000, (this.wait ?? 1000) * 2);
        setTimeout(again, this.wait);
      };
    }, () => source?.close());
  }

  over(stage, course, state) {
    this.live -= 1;
    this.liveKey.hidden = !this.live;
    if (!this.live) this.hold(false);
    if (this.stages.length > 1) this.retell();
    this.stands(state);
    this.main.querySelector("[data-stop]")?.remove();
    if (state === "finished") this.sign("The run has come to its end.");
    document.dispatchEvent(new CustomEvent("lab:over"));
    this.learn(stage, course);
    this.tell();
  }

  /* What became of two runs, and where they part, as it is known now. */
  async retell() {
    const { renew } = await import("./page-parts.js"), page = await renew();
    if (!page) return;
    for (const course of this.courses) {
      course.parted = Number(page.querySelector("main").dataset.parted);
      course.draw(this.total());
    }
  }

  stands(state) {
    const shown = this.main.querySelector(".run-state");
    if (!shown) return;
    shown.textContent = state;
    shown.className = `run-state is-${state.replace(" ", "-")}`;
  }

  sign(words) {
    const sign = document.getElementById("lab-sign");
    sign.textContent = words;
    sign.hidden = !words;
  }
}

/* ---- pages */

const main = document.querySelector("main");
if ("watch" in main.dataset) {
  const stages = [...main.querySelectorAll("[data-stage]")].map((root, nth) =>
    new Stage(root, main.querySelector(`[data-floor-of="${nth}"]`) ?? main.querySelector("[data-floor]")));
  const player = new Player(main, stages);
  const panes = main.querySelector("[data-panes]");
  if (panes) new Panes(panes, player);
}
