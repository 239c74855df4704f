/* A browser holds six connections to a home, and a page that follows something keeps one. Pages in sight have theirs, and of the others
   those looked at last; who has none takes it up again when it is shown, from where it was. Pages tell each other when they are. */
const MOST = 4;

export function following(open, close) {
  const me = Math.random(), since = new Set(), air = new BroadcastChannel("loopforge");
  let held = false, left = false;
  const settle = () => {
    const may = !left && (!document.hidden || since.size < MOST);
    if (may !== held) (held = may) ? open() : close();
  };
  const seen = () => {
    since.clear();
    air.postMessage([me, !left]);
    settle();
  };
  air.onmessage = ({ data: [page, here] }) => { since[here ? "add" : "delete"](page); settle(); };
  document.addEventListener("visibilitychange", seen); // also after a page was left
  addEventListener("pagehide", () => { left = true; seen(); });
  addEventListener("pageshow", () => { if (left) seen(left = false); });
  seen();
  return () => { if (held) open(); };
}
