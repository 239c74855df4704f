/* For every page: light or dark, the tokens of forms and this browser's key, notices one has read, times by the reader's clock. */
"use strict";
(() => {
  const root = document.documentElement;
  const store = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* closed to us */ }
    return null;
  };
  const chosen = store("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  const times = (all) => (all.querySelectorAll("time[data-as]").forEach((time) => {
    const told = (dateStyle, timeStyle) => new Date(time.dateTime).toLocaleString("en-GB", { dateStyle, timeStyle });
    time.textContent = told(...time.dataset.as.split(" ").map((style) => style || undefined));
    time.title = told("full", "long");
    time.removeAttribute("data-as");
  }), all);
  new MutationObserver((news) => news.forEach(({ target }) => times(target))).observe(root, { childList: true, subtree: true });

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    if (on("[data-theme-switch]")) {
      root.dataset.theme = dark() ? "light" : "dark";
      store("theme", root.dataset.theme);
    } else if (on("[data-dismiss]")) {
      const notice = on("[data-notice]");
      store("read", notice.textContent.trim());
      notice.remove();
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    root.classList.add("scripted");
    const notice = document.querySelector("[data-notice]");
    if (notice && store("read") === notice.textContent.trim()) notice.remove();
    document.querySelectorAll("[data-dismiss]").forEach((button) => { button.hidden = false; });
    document.body.addEventListener("htmx:configRequest", (event) => {
      event.detail.headers["x-csrftoken"] = window.loopforge.token();
    });
  });

  /* A key that pages of this origin alone can read; cookies go to every port of the machine. */
  const key = () => {
    if (!store("key")) store("key", crypto.getRandomValues(new Uint32Array(4)).join(""));
    return store("key") ?? "";
  };
  const proven = (token) => [token.split(".")[0], key()].filter(Boolean).join(".");
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector("[name=_csrf_token]");
    if (field) field.value = proven(field.value);
  }, true);

  window.loopforge = {
    store, times,
    /* What proves that a request comes from a page of this site, in the browser that came in. */
    token: () => proven(document.querySelector("meta[name=csrf-token]").content),
  };
})();
