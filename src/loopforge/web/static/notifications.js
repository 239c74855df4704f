/* Notifications and a sound for a line that comes while nobody looks. */

export function notifications({ room, gist }) {
  const $ = (id) => document.getElementById(id);

  const kept = (key) => window.loopforge.store(`loopforge:${key}`) === "yes";
  const keep = (key, on) => window.loopforge.store(`loopforge:${key}`, on ? "yes" : "");
  const can = "Notification" in window && isSecureContext;
  const notifies = () => can && kept("notify") && Notification.permission === "granted";
  $("notify").hidden = !can;
  const states = () => {
    $("notify").ariaPressed = notifies();
    $("sound").ariaPressed = kept("sound");
  };
  $("notify").addEventListener("click", async () => {
    const wanted = !notifies();
    if (wanted && await Notification.requestPermission() !== "granted") {
      $("notify").title = "Your browser does not allow it for this page; its settings do.";
      $("notify").textContent = "Notifications are blocked";
    } else keep("notify", wanted);
    states();
  });
  $("sound").addEventListener("click", () => { keep("sound", !kept("sound")); states(); if (kept("sound")) chime(); });

  let audio = null;
  function chime() {
    try {
      audio ??= new AudioContext();
      const now = audio.currentTime, gain = audio.createGain(), tone = audio.createOscillator();
      gain.gain.setValueAtTime(0.0001, now);
      gain.gain.exponentialRampToValueAtTime(0.12, now + 0.02);
      gain.gain.exponentialRampToValueAtTime(0.0001, now + 0.35);
      tone.frequency.setValueAtTime(660, now);
      tone.frequency.setValueAtTime(880, now + 0.12);
      tone.connect(gain).connect(audio.destination);
      tone.start(now);
      tone.stop(now + 0.4);
    } catch { /* no sound here */ }
  }
  states();

  return (line) => {
    if (!document.hidden && document.hasFocus()) return;
    if (kept("sound")) chime();
    if (!notifies()) return;
    const told = new Notification($("title").textContent, { body: gist(line), tag: `loopforge-${room}` });
    told.onclick = () => { focus(); told.close(); };
  };
}
