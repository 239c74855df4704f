/* A screen shared with a room, still by still. The stream stays in this page: what leaves it are the
   stills that lines carry, attached pictures like any other. Loaded by composer.js at the first press. */

const LONGEST = 1600; // pixels of a still's longer side
const SMALLEST = 1 / 8; // of that, where a room takes small files alone
const KINDS = ["image/webp", "image/jpeg"]; // a browser that cannot write one of them gives PNG
const WHAT = { monitor: "Your screen", window: "A window of yours", browser: "A tab of yours" };
const CHOOSE = "Choose in your browser what to share.";
const ENDED = "Your screen is not shared any more.";
const WHY = {
  NotAllowedError: "Nothing is shared: nothing was chosen, or it was not allowed. If you were not even asked, the settings of your browser or system forbid it.",
  NotFoundError: "Nothing is shared: there is no screen or window here to choose from.",
};
const OTHER = "Nothing is shared: your system gives no picture of that. Choose another screen or window.";

/* A picture of this width and height, in whole pixels. */
function drawn(from, wide, high) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: Math.max(1, Math.round(wide)), height: Math.max(1, Math.round(high)) });
  const brush = canvas.getContext("2d");
  brush.imageSmoothingQuality = "high";
  brush.drawImage(from, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/* The picture as a file of at most `limit` bytes, smaller and smaller until it is one. */
async function written(picture, limit) {
  const name = `screen-${new Date().toTimeString().slice(0, 8).replaceAll(":", "")}`;
  for (let part = 1; part >= SMALLEST; part /= 2) {
    const canvas = part === 1 ? picture : drawn(picture, picture.width * part, picture.height * part);
    for (const kind of KINDS) {
      const blob = await new Promise((done) => canvas.toBlob(done, kind, 0.9));
      if (blob && blob.size <= limit) return new File([blob], `${name}.${blob.type.split("/")[1]}`, { type: blob.type });
    }
  }
  throw new Error("Even a small still is larger than files may be here.");
}

/* `chosen` is what the first press asked the browser for, `ask` asks again; `amiss(file)` tells why a
   file cannot go with the line that is being written. */
export function sharing({ ask, chosen, button, text, limit, make, saved, problem, amiss }) {
  let stream = null, asking = false, over = false, held = null;

  const sheet = make("link");
  Object.assign(sheet, { rel: "stylesheet", href: "/static/screen-sharing.css" });
  document.head.append(sheet);

  const bar = make("section", "sharing"), video = make("video"), told = make("p"), choices = make("div", "row");
  const label = make("label"), every = make("input");
  const one = make("button", "button small", "Send a still"), end = make("button", "button small", "Stop sharing");
  bar.setAttribute("aria-label", "Your shared screen");
  told.setAttribute("role", "status");
  Object.assign(video, { muted: true, autoplay: true, playsInline: true });
  video.setAttribute("aria-label", "What is shared, as it is now");
  Object.assign(every, { type: "checkbox", checked: true });
  one.type = end.type = "button";
  label.append(every, "A still with every line I write");
  choices.append(label, one, end);
  bar.append(video, told, choices);
  text.form.before(bar);

  function show(words) {
    bar.hidden = !words;
    bar.classList.toggle("on", Boolean(stream));
    told.textContent = words;
    button.classList.toggle("on", Boolean(stream));
    button.title = stream ? "Stop sharing your screen" : "Share screen";
    button.setAttribute("aria-label", button.title);
  }

  async function start(wanted) {
    asking = true;
    problem("");
    show(CHOOSE);
    try {
      stream = await wanted;
    } catch (error) {
      problem(WHY[error.name] ?? OTHER);
    }
    asking = false;
    if (!stream) return show("");
    const [track] = stream.getVideoTracks();
    track.addEventListener("ended", () => stop("The sharing was ended in your browser. Your screen is not shared any more."));
    if (over || track.readyState === "ended") return stop(ENDED);
    video.srcObject = stream;
    saved("screen", "yes");
    const what = WHAT[track.getSettings().displaySurface] ?? WHAT.monitor;
    show(`${what} is shared with this room. Nothing of it leaves your browser but the stills that your lines carry.`);
    text.focus();
  }

  function stop(words) {
    if (!stream) return;
    const focused = bar.contains(document.activeElement);
    stream.getTracks().forEach((each) => each.stop());
    stream = video.srcObject = null;
    saved("screen", "");
    show(words);
    if (focused) text.focus();
  }

  /* The frame as it is at this moment, then made into a file; or why there is none. */
  async function taken() {
    const { videoWidth: wide, videoHeight: high } = video;
    if (!wide || !high || video.readyState < 2) return { why: "There is no picture of your screen yet." };
    const scale = Math.min(1, LONGEST / Math.max(wide, high));
    try {
      return { file: await written(drawn(video, wide * scale, high * scale), limit) };
    } catch (error) {
      return { why: error.message };
    }
  }

  one.addEventListener("click", async () => {
    const { file, why } = await taken(), not = why ?? amiss(file);
    if (not) return void problem(`${not} Nothing was sent; your words are still here.`);
    if (!stream) return;
    if (!text.value.trim()) text.value = "My screen";
    held = file;
    text.form.requestSubmit();
    held = null;
  });
  end.addEventListener("click", () => stop(ENDED));
  button.addEventListener("click", () => {
    if (stream) stop(ENDED);
    else if (!asking) start(ask());
  });
  addEventListener("pagehide", (event) => {
    const shared = Boolean(stream);
    stop("Your screen is not shared any more: the page was left.");
    if (shared && !event.persisted) saved("screen", "yes"); // so that the page can tell it when it is opened again
  });

  new MutationObserver(() => { // the room is closed to this person
    over = text.disabled;
    if (over) stop(ENDED);
  }).observe(text, { attributeFilter: ["disabled"] });

  start(chosen);
  return {
    /* What goes with the line that is sent now: nothing, or a promise of `{file}` or of `{why}`. */
    still() {
      if (!stream && !asking) show("");
      if (held) return Promise.resolve({ file: held });
      return stream && every.checked ? taken() : undefined;
    },
    /* A line with a still came back. */
    refused() {
      every.checked = false;
      if (stream) told.textContent = "That line was not taken, so your lines go without a still now. Your screen is still shared.";
    },
  };
}
