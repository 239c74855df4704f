/* What mates want to do and did, in a room's page: the cards of a question and of a reminder that rang, the tools under a line.
   Loaded by room.js where there is one of them. The server's HTML is the truth. */
export function asking({ base, lines, fragment, post, make, settle }) {
  const sheet = make("link");
  Object.assign(sheet, { rel: "stylesheet", href: "/static/question-card.css" });
  document.head.append(sheet);
  const part = async (path) => {
    const answer = await fetch(base + path, { headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(String(answer.status));
    return fragment(await answer.text());
  };

  const path = ({ dataset: { asks } }) => (asks.startsWith("rung/") ? `/${asks}` : `/questions/${asks}`);

  /* The card of a question, or of a reminder, as it stands now. What somebody writes in it is not taken away. */
  async function ask(event, problem = "") {
    try {
      const card = await part(path(event));
      const written = event.querySelector("[name=why]")?.value ?? "", why = card.querySelector("[name=why]");
      if (why) why.value = written;
      event.querySelector(".told").replaceChildren(card);
      event.classList.add("asking");
      const said = event.querySelector(".problem");
      if (said && problem) Object.assign(said, { textContent: problem, hidden: false });
      settle();
    } catch { /* it stays a link to its page */ }
  }

  lines.addEventListener("submit", async (event) => {
    const card = event.target.closest("[data-asks]");
    if (!card) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(event.target, event.submitter));
    let trouble = "";
    try {
      const answer = await post(path(card), body);
      const { error, told } = await answer.json();
      trouble = answer.ok ? (card.dataset.asks.startsWith("rung/") ? told : "") : error;
    } catch { trouble = "The home does not answer; nothing was said to it."; }
    ask(card, trouble);
  });

  /* The tools that were used for a line, once somebody unfolds them. */
  lines.addEventListener("toggle", async ({ target }) => {
    if (!target.open || !target.matches(".calls:not(.filled)")) return;
    target.classList.add("filled");
    try {
      target.replaceChildren(target.querySelector("summary"), await part(`/calls/${target.dataset.of}`));
    } catch { target.classList.remove("filled"); }
  }, true);

  return { ask: (event) => ask(event) };
}
