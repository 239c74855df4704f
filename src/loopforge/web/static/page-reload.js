/* A page that shows itself anew takes nothing from who is at it: what they pressed they let go of first, and whoever is on their
   way to another page is not held here. */
const LOOK = 100, LOOKS = 30; // milliseconds between two looks whether something is pressed; a press of so many is no click
let leaves = false;
addEventListener("beforeunload", () => { leaves = true; });
addEventListener("pageshow", () => { leaves = false; });

export async function released() {
  for (let nth = 0; nth < LOOKS && document.querySelector(":active"); nth += 1) await new Promise((done) => setTimeout(done, LOOK));
}

export async function reload() {
  await released();
  if (!leaves) location.reload();
}
