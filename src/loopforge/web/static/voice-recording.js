/* A voice note, recorded in this page: nothing of it leaves before its line is sent, as any file.
   Loaded by composer.js at the first press. */

const KINDS = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
const RATE = 32000; // bits a second, of which speech needs no more
const PART = 1000; // milliseconds between two looks how long it has become
const WHY = {
  NotAllowedError: "Nothing is recorded: your browser was not allowed to hear you. Its settings, or those of your system, forbid it.",
  NotFoundError: "Nothing is recorded: there is no microphone here.",
};
const OTHER = "Nothing is recorded: your microphone gives no sound. Another program may hold it.";
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/* `chosen` is what the first press asked the browser for, `ask` asks again. */
export function recording({ ask, chosen, button, text, limit, make, problem, attach }) {
  let recorder = null, parts = [], asking = false;

  const sheet = make("link");
  Object.assign(sheet, { rel: "stylesheet", href: "/static/voice-recording.css" });
  document.head.append(sheet);

  const bar = make("p", "recording"), told = make("span"), count = make("span", "count");
  const end = make("button", "button small", "Done"), drop = make("button", "button small", "Discard");
  end.type = drop.type = "button";
  bar.hidden = true;
  told.setAttribute("role", "status");
  bar.append(told, count, end, drop);
  text.form.before(bar);

  function show(on) {
    bar.hidden = !on;
    told.textContent = on ? "Recording a voice note" : "";
    count.textContent = on ? "0:00" : "";
    button.classList.toggle("on", on);
    button.setAttribute("aria-pressed", String(on));
  }

  async function start(wanted) {
    asking = true;
    problem("");
    let stream = null;
    try {
      stream = await wanted;
    } catch (error) {
      problem(WHY[error.name] ?? OTHER);
    }
    asking = false;
    if (!stream) return;
    const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: RATE });
    parts = [];
    let seconds = 0;
    recorder.addEventListener("dataavailable", ({ data }) => {
      parts.push(data);
      count.textContent = clock(++seconds);
      const size = parts.reduce((sum, each) => sum + each.size, 0);
      if (size > limit * 0.95 && recorder?.state === "recording") stop(true);
    });
    recorder.start(PART);
    show(true);
  }

  function stop(keep) {
    const mine = recorder;
    if (!mine) return;
    recorder = null;
    mine.addEventListener("stop", () => {
      mine.stream.getTracks().forEach((each) => each.stop());
      const type = mine.mimeType.split(";")[0], blob = new Blob(parts, { type });
      const name = `voice-note.${{ "audio/mp4": "m4a" }[type] ?? type.split("/")[1]}`;
      if (keep && blob.size) attach([new File([blob], name, { type })]);
    });
    mine.stop();
    show(false);
    text.focus();
  }

  end.addEventListener("click", () => stop(true));
  drop.addEventListener("click", () => stop(false));
  button.addEventListener("click", () => {
    if (recorder) stop(true);
    else if (!asking) start(ask());
  });
  addEventListener("pagehide", () => stop(false));
  start(chosen);
}
