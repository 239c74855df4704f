/* For every page: light or dark, form tokens for htmx, notices one has read, things to copy. */
"use strict";
(() => {
  const root = document.documentElement;
  const store = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* storage may be closed to us; then nothing is remembered */ }
    return null;
  };
  const chosen = store("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  document.addEventListener("click", async (event) => {
    const on = (selector) => event.target.closest(selector);
    if (on("[data-theme-switch]")) {
      root.dataset.theme = dark() ? "light" : "dark";
      store("theme", root.dataset.theme);
    } else if (on("[data-dismiss]")) {
      const notice = on("[data-notice]");
      store("read", notice.textContent.trim());
      notice.remove();
    } else if (on("[data-copy]")) {
      const button = on("[data-copy]");
      const from = document.querySelector(button.dataset.copy);
      await navigator.clipboard.writeText(from.value ?? from.textContent.trim());
      button.textContent = "Copied";
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

  window.loopforge = {
    /* What proves that a request comes from a page of this site. */
    token() {
      const found = document.cookie.split("; ").find((each) => each.startsWith("csrftoken="));
      return found ? found.slice(10) : document.querySelector("[name=_csrf_token]")?.value ?? "";
    },
  };
})();
