// What must work before Python does, or without it: the theme, the link's values in the controls,
// progress, and the report of a start that fails or stalls. No rule of the simulation is here.
(() => {
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  const $ = (id) => document.getElementById(id);
  const here = document.currentScript;
  const VENDOR = "If you serve the page yourself, run “python3 -m sim vendor”.";

  // As strict as PyScript allows. It is set here because for a frame of no origin of its own (sandboxed)
  // 'self' is nothing at all in one of the engines, and a policy cannot be taken back.
  if (window.origin !== "null") {
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'";
    document.head.append(policy);
  }

  const theme = query.get("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  // What of the page a link asks for; Python checks it later.
  const listed = (key) => (query.get(key) ?? "").split(",");
  const parts = root.dataset.show.split(" ");
  const shown = listed("show").filter((part) => parts.includes(part));
  if (shown.length) root.dataset.show = shown.join(" ");
  if (/^(on|1|true)$/i.test(query.get("embed"))) root.dataset.embed = "";
  if (query.has("ask")) root.classList.add("predicting"); // the printed numbers could be the answer

  // The page that holds this one in a frame. Its messages wait until Python listens; no one else's count.
  const host = window.parent === window ? null : window.parent;
  const MOST_WAITING = 100;
  const waiting = [];
  let hear = (text) => {
    waiting.push(text);
    if (waiting.length > MOST_WAITING) waiting.shift();
  };
  addEventListener("message", ({ source, data }) => {
    if (!host || source !== host || typeof data?.type !== "string" || Array.isArray(data)) return;
    if (!data.type.startsWith("bonus-token:")) return;
    let text;
    try {
      text = JSON.stringify(data);
    } catch {
      return; // what JSON cannot hold is no message of the protocol
    }
    hear(text);
  });
  if (host) {
    addEventListener("DOMContentLoaded", () => {
      let told = 0;
      new ResizeObserver(() => {
        const height = Math.ceil(root.getBoundingClientRect().height);
        if (height === told) return;
        told = height;
        const src = location.href;
        host.postMessage({ type: "bonus-token:resize", height }, "*");
        host.postMessage({ subject: "lti.frameResize", height }, "*"); // Canvas
        host.postMessage(JSON.stringify({ src, context: "iframe.resize", height }), "*"); // Embedly
      }).observe(root);
    });
  }

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

  // Progress, in steps and in bytes. Without any for a while, the start has stalled.
  const stallSeconds = Number(here.dataset.stallSeconds || 20);
  let stage = "the page's scripts";
  let alive = performance.now();
  const loading = () => root.dataset.state === "loading";
  let bytes = 0;
  let expected = 1;
  for (const link of document.querySelectorAll("link[data-bytes]")) expected += Number(link.dataset.bytes);
  const progressed = (text) => {
    alive = performance.now();
    if (text) stage = text;
    // Files may arrive before the page has been read to its end.
    if (document.readyState === "loading" || !loading()) return;
    const percent = Math.min(99, Math.round((100 * bytes) / expected));
    $("progress").value = percent;
    $("progress").setAttribute("aria-valuetext", `${percent} %: ${stage}`);
    $("percent").textContent = `${percent} %`;
  };
  addEventListener("py:progress", ({ detail }) => progressed(String(detail)));
  new PerformanceObserver(() => progressed()).observe({ type: "resource", buffered: true });
  const LOOK = 500; // milliseconds between looks
  let looked = performance.now();
  const watchdog = setInterval(() => {
    // A tab or a machine that slept looks late, and nothing could arrive in the meantime.
    const now = performance.now();
    if (now - looked > 3 * LOOK || document.hidden) alive = now;
    looked = now;
    if (loading() && performance.now() - alive > stallSeconds * 1000) {
      fail("Python is not coming", `Nothing has arrived for ${stallSeconds} seconds, while waiting for: ${stage}. Check the connection, then try again.`);
    }
  }, LOOK);

  // What arrives is worked on once the reader has a page to look at.
  const painted = new Promise((resolve) => {
    new PerformanceObserver(resolve).observe({ type: "paint", buffered: true });
    setTimeout(resolve, 300);
  });

  /** Fetch a file, counting its bytes as they arrive. Rejects, naming the file, unless it is there. */
  const fetchCounted = async (address, options) => {
    const name = address.split("/").pop();
    let response;
    try {
      response = await fetch(address, options);
    } catch (error) {
      throw new Error(`${name} could not be fetched: ${error.message}`);
    }
    if (!response.ok) throw new Error(`${name} is missing (HTTP ${response.status})`);
    progressed(name);
    const copy = response.clone();
    (async () => {
      await painted;
      const reader = copy.body.getReader();
      for (let chunk; !(chunk = await reader.read()).done; ) {
        bytes += chunk.value.length;
        progressed();
      }
    })().catch(() => {}); // whoever reads the response itself is told
    return response;
  };
  // The largest files first, before anything has asked for them.
  const opened = new Map();
  for (const { href } of document.querySelectorAll("link[data-bytes]")) {
    const response = fetchCounted(href);
    response.catch(() => {});
    opened.set(href, response);
  }
  const open = (address, options = {}) => {
    const first = opened.get(address);
    opened.delete(address);
    return first && !options.cache ? first : fetchCounted(address, options);
  };

  // Asked here, because the answer takes a while the first time.
  const storageWorks = new Promise((resolve) => {
    try {
      const probe = indexedDB.open("bonus-token-probe");
      probe.onsuccess = () => {
        probe.result.close();
        resolve(true);
      };
      probe.onerror = (event) => {
        event.preventDefault();
        resolve(false);
      };
    } catch {
      resolve(false);
    }
  });

  // Failures
  let tryAgain = null;
  function fail(title, text, detail = "") {
    if (root.dataset.state === "failed") return;
    if (root.dataset.state === "ready") root.classList.add("drawn");
    root.dataset.state = "failed";
    if (!tryAgain) settle.reject(new Error(`${title}: ${text}`));
    const show = () => {
      const panel = $("failure");
      panel.querySelector("h2").textContent = title;
      panel.querySelector("p").textContent = `${text} The text and the picture of the opening scene stay readable.`;
      panel.querySelector("pre").textContent = detail;
      const button = panel.querySelector("button");
      button.textContent = tryAgain ? "Try again" : "Reload the page";
      button.onclick = () => {
        if (!tryAgain) return location.reload();
        panel.hidden = true;
        root.dataset.state = "loading";
        bytes = 0;
        progressed("another try");
        return tryAgain();
      };
      panel.hidden = false;
    };
    if ($("failure")) show();
    else addEventListener("DOMContentLoaded", show);
  }
  const missing = (file, detail) =>
    fail("A file of the page is missing", `Could not load ${file}. ${VENDOR}`, String(detail ?? ""));

  const explain = (message) => {
    if (!loading()) {
      return ["Something went wrong", "An action could not be carried out. Reload the page to go on."];
    }
    if (!/Traceback/.test(message) && /fetch|import|network|load/i.test(message)) {
      return ["A file of the page is missing", `Part of the page could not be loaded. ${VENDOR}`];
    }
    return ["Python could not start", "An error stopped the start of the page. Reload to try again."];
  };
  addEventListener("error", (event) => {
    const { target, message } = event;
    if (target instanceof HTMLElement) {
      if (loading() && target.tagName === "SCRIPT") missing(target.src);
    } else if (message && event.filename && !/ResizeObserver loop/.test(message)) {
      fail(...explain(message), message);
    }
  }, true);
  addEventListener("unhandledrejection", ({ reason }) => {
    const message = String((reason && reason.message) || reason);
    fail(...explain(message), message);
  });
  if (typeof WebAssembly !== "object") {
    fail("This browser cannot run Python", "WebAssembly is not available here. Switch it on, or use a current browser.");
  }

  // Controls: the link's values as they stand there, checked by Python later; and which were moved.
  addEventListener("DOMContentLoaded", () => {
    if ([...query.keys()].some((key) => !["theme", "speed", "play", "embed", "show", "lock"].includes(key))) {
      root.classList.add("elsewhere");
    }
    for (const [key, value] of query) {
      for (const control of document.querySelectorAll(`[name="${CSS.escape(key)}"], [data-number="${CSS.escape(key)}"]`)) {
        if (control.type === "checkbox") control.checked = !/^(off|0|false)$/i.test(value);
        else if (key !== "speed" && value && Number.isFinite(Number(value))) control.value = value;
      }
    }
    for (const key of listed("lock")) {
      for (const control of document.querySelectorAll(`[name="${CSS.escape(key)}"], [data-number="${CSS.escape(key)}"]`)) {
        control.disabled = true;
      }
    }
    $("controls").addEventListener("input", ({ target }) => {
      target.dataset.moved = loading();
    });
  });

  // Who reads on has the simulator beside the text, where there is room: the style says where.
  const READING = 160; // px of the window above the text from which on it counts as read
  addEventListener("DOMContentLoaded", () => {
    const look = () => {
      const reading = $("text").getBoundingClientRect().top < READING;
      if (reading === root.classList.contains("reading")) return;
      if (reading) root.style.setProperty("--widget-height", `${$("widget").getBoundingClientRect().height}px`);
      root.classList.toggle("reading", reading);
    };
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
  });

  let started = false;
  window.bonusTokenStart = {
    loading,
    storageWorks,
    charts: () => import("./charts.mjs"),
    painted,
    open,
    missing,
    /** Whether this is the first start; a second one has nothing to do. */
    claim() {
      const first = !started;
      started = true;
      return first;
    },
    /** Resolves when the reader asks for another try. */
    retry: () => new Promise((resolve) => { tryAgain = resolve; }),
    /** From here on only a reload can help. */
    runtimeLoaded: () => { tryAgain = null; },
    /** The interpreter could not be loaded, but may be tried again. */
    runtimeFailed(error) {
      fail("Python could not be loaded", `${error.message}. ${VENDOR}`);
    },
    framed: Boolean(host),
    /** Tell the page around this frame, in JSON. */
    tell: (text) => host.postMessage(JSON.parse(text), "*"),
    /** Hand over what the page around this frame says, in JSON, and has said. */
    listen(call) {
      hear = call;
      for (const text of waiting.splice(0)) call(text);
    },
    /** The page's own Python failed to start. */
    broken(detail) {
      fail(...explain(detail), detail);
    },
    ready(call) {
      dispatch = call;
      clearInterval(watchdog);
      root.dataset.state = "ready";
      root.classList.remove("elsewhere");
      performance.mark("bonus-token-ready");
      settle.resolve(api);
    },
  };
})();
