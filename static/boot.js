// What must work before Python does, or without it: the theme, the link's values in the controls,
// progress, the API. What goes wrong is told by failure.js. No rule of the simulation is here.
(() => {
  if (window.bonusTokenStart) return; // put off by a proxy, and brought by a module meanwhile
  const root = document.documentElement;
  root.dataset.boot = ""; // takes away the words for when this file does not come
  // Some course platforms escape the & of a link once too often, as &amp; or as &#038;.
  const written = location.search + (/^#0*38;/.test(location.hash) ? location.hash : "");
  const query = new URLSearchParams(written.replace(/&?#0*38;/g, "&").replace(/([?&])(amp;)+/gi, "$1"));
  const $ = (id) => document.getElementById(id);
  const here = document.currentScript ?? document.querySelector('script[src$="boot.js"]');
  const whenRead = (act) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", act);
    else act();
  };

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
  if (/^(on|1|true)$/i.test(query.get("embed"))) {
    root.dataset.embed = "";
    if (!shown.length) root.dataset.show = parts.filter((part) => part !== "rail").join(" ");
  }
  const lab = query.get("lab") ?? "";
  if (/^[a-z-]+$/.test(lab) && lab !== "none") root.dataset.lab = lab;
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
      text = JSON.stringify(plain(data));
    } catch {
      return; // what JSON cannot hold is no message of the protocol
    }
    hear(text);
  });
  const [LOW, TWO_COLUMNS] = [660, 640]; // px: a frame lower than this has the widget in short
  if (host) {
    whenRead(() => {
      let told = 0;
      const fit = () => {
        root.classList.remove("compact");
        const height = Math.ceil(root.getBoundingClientRect().height);
        // It is asked for whole all the same: who can give the height gets it so.
        const low = "embed" in root.dataset && innerHeight < Math.min(height, LOW);
        root.classList.toggle("compact", low && innerWidth >= TWO_COLUMNS);
        if (height === told) return;
        told = height;
        const src = location.href;
        host.postMessage({ type: "bonus-token:resize", height }, "*");
        host.postMessage({ subject: "lti.frameResize", height }, "*"); // Canvas
        host.postMessage(JSON.stringify({ src, context: "iframe.resize", height }), "*"); // Embedly
      };
      new ResizeObserver(fit).observe(root);
      addEventListener("resize", fit);
    });
  }

  // Who shows slides turns them by keys that a frame swallows once it was clicked into. Page keys are
  // handed on, in the words of reveal.js too, and Escape gives the focus back.
  const SLIDES = { PageUp: "prev", PageDown: "next" };
  if (host && "embed" in root.dataset) {
    addEventListener("keydown", (event) => {
      const { key, target } = event;
      if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (key === "Escape" && !document.querySelector("dialog[open]")) {
        document.activeElement.blur();
        host.focus();
      } else if (key in SLIDES) {
        if (target.matches("input")) event.preventDefault(); // else a slider would move
        host.postMessage(JSON.stringify({ method: SLIDES[key], args: [] }), "*");
      } else return;
      host.postMessage({ type: "bonus-token:key", key }, "*");
    }, true);
  }

  // JSON that any reader takes: what is nested deeper than any setting is cut, and the numbers that
  // JSON has no word for are told as words, not as the default.
  const DEEPEST = 5;
  const plain = (value, above = []) => {
    if (typeof value === "number" && !Number.isFinite(value)) return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (above.includes(value)) throw new TypeError("A value that holds itself cannot be set.");
    if (above.length === DEEPEST) return "…";
    const path = [...above, value];
    if (Array.isArray(value)) return value.map((item) => plain(item, path));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, path)]));
  };

  // The API: calls cross to Python as JSON, so that None arrives as null.
  let dispatch = null;
  let settle;
  const ready = new Promise((resolve, reject) => { settle = { resolve, reject }; });
  ready.catch(() => {}); // a host that does not wait must not see an unhandled rejection
  const api = { ready };
  const CALLS = "state set play pause step seek evict reset".split(" "); // printed
  for (const name of CALLS) {
    api[name] = (...values) => {
      if (!dispatch) throw new Error("Bonus Token is still loading: await bonusToken.ready first.");
      return JSON.parse(dispatch(name, JSON.stringify(plain(values))));
    };
  }
  window.bonusToken = api;

  // What went wrong, by its kind. failure.js has the words for each, and finds the cause. Problems wait
  // for it; if it does not come, they are told in one line.
  class Problem extends Error {
    constructor(kind, file = "", why = "") {
      super(`${file || "the page"}: ${why || kind}`);
      Object.assign(this, { kind, file, why, detail: "" });
    }
  }
  let failure = null;
  const explain = () => { failure ??= window.bonusTokenFailure?.(shared) ?? null; };
  const WORDS = new URL("static/failure.js", document.baseURI).href;
  const arrives = () => checked(WORDS, { cache: "no-store" }).then(() => null, ({ kind }) => kind);
  const explained = new Promise((resolve) => {
    // Put off, or lost on its way: then what it was lost to.
    whenRead(() => resolve(window.bonusTokenFailure ? null : import("./failure.js").then(() => null, arrives)));
  });
  const ASK_EVERY = 3000; // milliseconds
  const MOST_TRIES = 3; // in a row, that the page makes by itself
  /** How many it has made, or to be taken for so many: a reload keeps it. */
  const tried = (count = history.state?.tried ?? 0) => {
    if (count !== (history.state?.tried ?? 0)) history.replaceState({ tried: count }, "");
    return count;
  };
  const report = async (problem) => {
    const lost = !failure && await explained === "connection";
    if (failure) return failure.report(problem);
    if (!loading()) return;
    const again = lost && tried() < MOST_TRIES;
    const told = "A part of the page did not arrive: static/failure.js, which would say more. " +
      (again ? "The page loads again by itself as soon as the server can be reached." : "Reload the page.");
    root.dataset.state = "failed";
    settle.reject(new Error(`${told} ${problem.message}`));
    if (again) {
      setInterval(async () => {
        if (await arrives() !== null) return;
        tried(tried() + 1);
        location.reload();
      }, ASK_EVERY);
    }
    const panel = $("failure");
    if (lost) panel.querySelector("h2").textContent = "The connection was lost";
    panel.querySelector("p").textContent = told;
    panel.querySelector("pre").textContent = problem.message;
    panel.querySelector("button").onclick = () => location.reload();
    panel.hidden = false;
  };

  const nameOf = (address) => new URL(address, location.href).pathname.split("/").pop();
  /** Fetch a file of the page, or reject with what is wrong with it, as far as its head tells. */
  const checked = async (address, options) => {
    const file = nameOf(address);
    let response;
    try {
      response = await fetch(address, options);
    } catch (error) {
      throw Object.assign(new Problem("connection", file), { detail: String(error) });
    }
    const kind = (response.headers.get("Content-Type") ?? "").split(";")[0];
    if (!response.ok) throw new Problem("missing", file, `HTTP ${response.status}`);
    if (kind === "text/html") throw new Problem("missing", file, "the server sent a web page in its place");
    if (/\.m?js$/.test(file) && !/(java|ecma)script$/.test(kind)) throw new Problem("type", file, kind || "a file without a type");
    return response;
  };

  // Only these files are the page's own, whatever else a host or an extension puts into it.
  const needed = () => [...document.querySelectorAll('link[rel="modulepreload"], link[rel="preload"]')]
    .filter((link) => !("snapshot" in link.dataset) && /^\.\/(static|sim)\//.test(link.getAttribute("href")))
    .map((link) => link.href);
  const isOurs = (address) => [here?.src, ...needed()].includes(String(address).replace(/[?#].*$/, ""));
  addEventListener("error", ({ target }) => {
    if (target instanceof HTMLScriptElement && isOurs(target.src)) report(new Problem("missing", nameOf(target.src), "not loaded"));
  }, true);

  // Progress, in steps and in bytes. Without any for a while, the start has stalled.
  const stallSeconds = Number(here?.dataset.stallSeconds || 20);
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
      report(new Problem("stalled", stage));
    }
  }, LOOK);

  // What arrives is worked on once the reader has a page to look at.
  const painted = new Promise((resolve) => {
    new PerformanceObserver(resolve).observe({ type: "paint", buffered: true });
    setTimeout(resolve, 300);
  });

  /** Fetch a file, counting its bytes as they arrive. Rejects with the `Problem` unless it is there. */
  const fetchCounted = async (address, options) => {
    const response = await checked(address, options);
    progressed(nameOf(address));
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

  // Controls: the link's values as they stand there, checked by Python later; and which were moved.
  const SCENE = document.querySelector('meta[name="scene-keys"]')?.content.split(" ") ?? [];
  if (SCENE.some((key) => query.has(key))) root.classList.add("elsewhere"); // than what is printed
  whenRead(() => {
    $("scene").href = location.href.replace(/([?&])embed=[^&#]*&?/, "$1").replace(/[?&]$/, "");
    for (const [key, value] of query) {
      for (const control of document.querySelectorAll(`[name="${CSS.escape(key)}"], [data-number="${CSS.escape(key)}"]`)) {
        if (control.type === "checkbox") control.checked = !/^(off|0|false)$/i.test(value);
        else if (key !== "speed" && value && Number.isFinite(Number(value))) control.value = value;
      }
    }
    const alone = root.dataset.lab && document.querySelector(`main [data-lab="${lab}"]`);
    alone?.classList.add("alone");
    if (!alone) delete root.dataset.lab;
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
  whenRead(() => {
    if ("embed" in root.dataset) return; // there is no text
    const look = () => {
      const { top } = $("text").getBoundingClientRect();
      if (top > innerHeight / 2) root.classList.remove("peeking"); // the widget’s own place is seen
      const reading = !root.dataset.lab && top < READING;
      if (reading === root.classList.contains("reading")) return;
      if (reading) root.style.setProperty("--widget-height", `${$("widget").getBoundingClientRect().height}px`);
      root.classList.toggle("reading", reading);
    };
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
  });

  /** What failure.js is handed, and where it says that no start can come any more. */
  const shared = {
    root, here, $, whenRead, loading, nameOf, checked, needed, isOurs, Problem, stallSeconds,
    ASK_EVERY, MOST_TRIES, tried,
    tryAgain: null,
    over: false,
    refuse: (error) => settle.reject(error),
    restart() {
      root.dataset.state = "loading";
      bytes = 0;
      progressed("another try");
    },
  };

  let started = false;
  window.bonusTokenStart = {
    explain,
    loading,
    storageWorks,
    charts: () => import("./charts.mjs"),
    /**
     * Fetch files of the page that its start did without, from the server itself if `fresh`; `arrived`
     * takes the name and bytes of each. Rejects with words for the reader.
     */
    bring: (names, fresh, arrived) => Promise.all(names.map(async (name) => {
      let data;
      try {
        const response = await checked(new URL(name, document.baseURI).href, fresh ? { cache: "reload" } : {});
        data = new Uint8Array(await response.arrayBuffer());
      } catch ({ kind, why }) {
        throw new Error(kind === "missing" ? `${name} is missing: ${why}` : `${name} did not arrive`);
      }
      arrived(name, data);
    })),
    painted,
    open,
    Problem,
    report,
    /** Whether a start may still come. */
    awaited: () => !shared.over && dispatch === null,
    /** What is wrong with a script of the page that could not be imported. */
    unread(file, error) {
      const kind = error instanceof TypeError ? "missing" : error instanceof SyntaxError ? "damaged" : "python";
      return Object.assign(new Problem(kind, nameOf(file), kind === "missing" ? "not loaded" : error.message), { detail: String(error) });
    },
    /** Whether this is the first start; a second one has nothing to do. */
    claim() {
      const first = !started;
      started = true;
      return first;
    },
    /** Resolves when the reader asks for another try. */
    retry: () => new Promise((resolve) => { shared.tryAgain = resolve; }),
    /** From here on only a reload can help. */
    runtimeLoaded: () => { shared.tryAgain = null; },
    /** The interpreter could not be loaded, but may be tried again. */
    runtimeFailed: (error) => report(error instanceof Problem ? error : Object.assign(new Problem("python"), { detail: error.message })),
    /** Say, in one quiet line, why this start was slower than it need be. */
    slow(why) {
      console.info(`A slower start: ${why}`);
      root.dataset.slow = why;
      whenRead(() => { $("slow").append(` ${why}.`); $("slow").hidden = false; });
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
    broken: (detail) => report(Object.assign(new Problem("python"), { detail })),
    ready(call) {
      dispatch = call;
      clearInterval(watchdog);
      failure?.rest();
      tried(0);
      // What was feared did not come true.
      root.dataset.state = "ready";
      $("failure").hidden = true;
      root.classList.remove("elsewhere");
      performance.mark("bonus-token-ready");
      api.ready = Promise.resolve(api); // it may have been refused
      settle.resolve(api);
    },
  };
  explain();
})();
