/* A browser holds six connections to a home, and a page that follows something keeps one. The page at work has its own, and of the others
   those looked at last. Pages tell each other when they are; those in sight go on by turns, each from where it was. */
const MOST = 4, TURN = 2000;

export function following(open, close) {
  const me = Math.random(), since = new Set(), air = new BroadcastChannel("loopforge");
  let held = false, left = false, turn = 0;
  const settle = () => {
    const may = !left && (document.hasFocus() || since.size < MOST);
    if (may !== held) (held = may) ? open() : close();
    if (!may) turn ||= setTimeout(() => { turn = 0; if (!held && !document.hidden) seen(); }, TURN);
  };
  const seen = () => {
    since.clear();
    air.postMessage([me, !left]);
    settle();
  };
  air.onmessage = ({ data: [page, here] }) => { since[here ? "add" : "delete"](page); settle(); };
  document.addEventListener("visibilitychange", seen); // also after a page was left
  addEventListener("focus", seen);
  addEventListener("pagehide", () => { left = true; seen(); });
  addEventListener("pageshow", () => { if (left) seen(left = false); });
  seen();
  return () => { if (held) open(); };
}
