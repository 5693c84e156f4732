// What must work before Python does, or without it: the theme, the progress bar, the report of a
// start that fails or stalls, and the API's promise. No rule of the simulation is here.
(() => {
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  const $ = (id) => document.getElementById(id);

  const theme = query.get("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  // The API: calls cross to Python as JSON, so that None arrives as null.
  let dispatch = null;
  let settle;
  const ready = new Promise((resolve, reject) => { settle = { resolve, reject }; });
  ready.catch(() => {}); // a host that does not wait must not see an unhandled rejection
  const api = { ready };
  for (const name of ["state", "set", "play", "pause", "step", "seek", "evict", "reset"]) {
    api[name] = (...values) => {
      if (!dispatch) throw new Error("Bonus Token is still loading: await bonusToken.ready first.");
      return JSON.parse(dispatch(name, JSON.stringify(values)));
    };
  }
  window.bonusToken = api;

  // Progress: PyScript's steps move the bar; files that arrive reset the watchdog as well.
  const STEPS = 12;
  const stallSeconds = Number(document.currentScript.dataset.stallSeconds || 20);
  let step = 0;
  let stage = "the page's scripts";
  let alive = performance.now();
  const progressed = (text) => {
    alive = performance.now();
    if (!text) return;
    stage = text;
    step += 1;
    const bar = $("progress");
    const percent = Math.min(95, Math.round((100 * step) / STEPS));
    bar.firstElementChild.style.width = `${percent}%`;
    bar.setAttribute("aria-valuenow", percent);
    bar.setAttribute("aria-valuetext", text);
  };
  addEventListener("py:progress", ({ detail }) => progressed(String(detail)));
  new PerformanceObserver(() => progressed()).observe({ type: "resource", buffered: true });
  const watchdog = setInterval(() => {
    if (performance.now() - alive > stallSeconds * 1000) {
      fail(
        "Python is not coming",
        `Nothing has arrived for ${stallSeconds} seconds, while waiting for: ${stage}. ` +
          "Check the connection and reload the page.",
      );
    }
  }, 500);

  function fail(title, text, detail = "") {
    if (root.dataset.state === "failed") return;
    if (root.dataset.state === "ready") root.classList.add("drawn");
    root.dataset.state = "failed";
    clearInterval(watchdog);
    settle.reject(new Error(`${title}: ${text}`));
    const show = () => {
      const panel = $("failure");
      panel.querySelector("h2").textContent = title;
      panel.querySelector("p").textContent = `${text} The text below and the picture of the opening scene stay readable.`;
      panel.querySelector("pre").textContent = detail;
      panel.querySelector("button").onclick = () => location.reload();
      panel.hidden = false;
    };
    if ($("failure")) show();
    else addEventListener("DOMContentLoaded", show);
  }

  const explain = (message) => {
    if (/WebAssembly/i.test(message) && !window.WebAssembly) {
      return ["This browser cannot run Python", "WebAssembly is not available here. Switch it on, or use a current browser."];
    }
    if (root.dataset.state === "ready") {
      return ["Something went wrong", "An action could not be carried out. Reload the page to go on."];
    }
    if (!/Traceback/.test(message) && /fetch|import|network|load/i.test(message)) {
      return ["A file of the page is missing", "Part of the Python runtime could not be loaded. If you serve the page yourself, run “python3 -m sim vendor”, then reload."];
    }
    return ["Python could not start", "An error stopped the start of the page. Reload to try again."];
  };
  addEventListener("error", (event) => {
    const { target, message } = event;
    if (target instanceof HTMLElement && (target.src || target.href)) {
      if (root.dataset.state !== "ready") {
        fail("A file of the page is missing", `Could not load ${target.src || target.href}. If you serve the page yourself, run “python3 -m sim vendor”, then reload.`);
      }
    } else if (message && event.filename && !/ResizeObserver loop/.test(message)) {
      fail(...explain(message), message);
    }
  }, true);
  addEventListener("unhandledrejection", ({ reason }) => {
    const message = String((reason && reason.message) || reason);
    fail(...explain(message), message);
  });

  window.bonusTokenStart = {
    ready(call) {
      dispatch = call;
      clearInterval(watchdog);
      root.dataset.state = "ready";
      settle.resolve(api);
    },
    broken(detail) {
      fail(...explain(detail), detail);
    },
  };
})();
