// A start that fails, and an action that does: what is behind it, told in words of its own with what
// the reader can do, and tried again where that can help. boot.js does without where this is missing.
(() => {
  if (window.bonusTokenFailure) return; // brought a second time
  window.bonusTokenFailure = (shared) => {
    const { root, here, $, whenRead, loading, nameOf, checked, needed, isOurs, Problem } = shared;
    const { stallSeconds, ASK_EVERY, MOST_TRIES, tried } = shared;

    // What can go wrong with a start, each with words of its own and what its reader can do.
    const BUNDLED = false; // a bundle is written with true here
    const repair = (file) => {
      if (BUNDLED) return "Reload the page. If you host it, unpack the bundle again, whole: its bundle.json lists every file.";
      const own = /\.py$|^(boot|failure|start|interpreter|snapshot)\.m?js$/.test(file);
      return `Reload the page. If you serve it yourself, ${own ? "put the file back: it belongs to the project" : "run “python3 -m sim vendor” in its folder"}.`;
    };
    const FROM_DISK = BUNDLED ? "python3 -m http.server" : "python3 -m sim";
    const KINDS = {
      file: () => ["This page cannot run from the disk", `Browsers let no file on the disk read another. In the page’s folder, run “${FROM_DISK}” and open the address that it prints.`],
      policy: () => ["The server forbids what Python needs", "Its Content-Security-Policy stops the start. Whoever runs the server can allow 'self' and 'unsafe-eval' in script-src, and 'self' in connect-src."],
      wasm: () => ["This browser cannot run Python", "WebAssembly is not available here. Switch it on, or use a current browser."],
      memory: () => ["There is not enough memory", "Python needs about 200 MB. Close other tabs or programs, then try again."],
      missing: (file, why) => ["A file of the page is missing", `${file} is missing (${why}). ${repair(file)}`],
      damaged: (file, why) => ["A file of the page is damaged", `${file} is damaged${why ? ` (${why})` : ""}. ${repair(file)}`],
      type: (file, why) => ["The server sends a script as something else", `${file} came as ${why}, and a browser runs a module only as text/javascript. Whoever runs the server can give .mjs and .js files that type.`],
      connection: (file) => ["The connection was lost", `${file} did not arrive. The page tries again by itself as soon as the server can be reached. If that does not help, a filter or an extension may hold the file back.`],
      stalled: (stage) => ["Python is not coming", `Nothing has arrived for ${stallSeconds} seconds, while waiting for: ${stage}. Check the connection, then try again.`],
      python: () => ["Python could not start", "An error stopped the start of the page. Reload to try again."],
      action: () => ["Something went wrong", "An action could not be carried out. Reload the page to go on."],
    };
    /** After these no start can come without a reload; a stall or a lost connection may pass. */
    const FINAL = ["file", "policy", "wasm", "missing", "damaged", "type", "python"];

    const LOOK_WAIT = 4000; // milliseconds to look for the cause
    /** Which file of the page is not as it should be, if one is. */
    async function findCause() {
      const cut = new AbortController();
      setTimeout(() => cut.abort(), LOOK_WAIT);
      const found = await Promise.all(needed().map(async (address) => {
        try {
          const response = await checked(address, { cache: "no-cache", signal: cut.signal });
          await response.body?.cancel();
          return null;
        } catch (problem) {
          return problem;
        }
      }));
      const problems = found.filter((problem) => problem instanceof Problem && (problem.kind !== "connection" || !cut.signal.aborted));
      return problems.find(({ kind }) => kind !== "connection") ?? problems[0];
    }

    const pythonStops = () => {
      try {
        return !new Function("return true")();
      } catch {
        return true; // the policy of a host
      }
    };

    let looking = false;
    let lost = false; // the connection, at least once
    /** Say what stopped the start, and look for what is behind it first. */
    async function report(problem) {
      if (!loading() || looking) return;
      looking = true;
      const certain = ["file", "policy", "wasm", "memory", "type"].includes(problem.kind);
      const cause = certain ? null : await findCause();
      looking = false;
      if (!loading()) return;
      if (cause) cause.detail ||= problem.detail;
      // A script that did not come and is there now was lost on its way.
      const lost = problem.kind === "missing" && problem.why === "not loaded" ? Object.assign(new Problem("connection", problem.file), { detail: problem.detail }) : problem;
      fail(cause ?? lost);
    }

    function fail(problem) {
      const { kind, file, why, detail } = problem;
      const [title, message] = KINDS[kind](file, why);
      if (root.dataset.state === "ready") root.classList.add("drawn");
      root.dataset.state = "failed";
      shared.over = FINAL.includes(kind) && !shared.tryAgain;
      if (shared.over) shared.refuse(new Error(`${title}: ${message}`));
      whenRead(() => {
        const panel = $("failure");
        panel.querySelector("h2").textContent = title;
        panel.querySelector("p").textContent = `${message} The text and the picture of the opening scene stay readable.`;
        panel.querySelector("pre").textContent = detail;
        const button = panel.querySelector("button");
        button.textContent = shared.tryAgain ? "Try again" : "Reload the page";
        button.onclick = again;
        panel.hidden = root.dataset.state !== "failed";
      });
      if (kind !== "connection") return;
      lost = true;
      awaitConnection();
    }

    function again() {
      rest();
      if (!shared.tryAgain) return location.reload();
      $("failure").hidden = true;
      shared.restart();
      return shared.tryAgain();
    }

    // A lost connection may come back: the browser says so, or the server answers again.
    let asking = null;
    const rest = () => {
      clearInterval(asking);
      asking = null;
    };
    const awaitConnection = () => { asking ??= setInterval(ask, ASK_EVERY); };
    const ask = async () => {
      if (asking === null || !navigator.onLine || tried() >= MOST_TRIES) return;
      const reached = await fetch(here.src, { cache: "no-store" }).then(() => true, () => false);
      if (!reached || asking === null) return;
      tried(tried() + 1);
      again();
    };
    addEventListener("online", () => {
      tried(0); // the way there may take some seconds more
      ask();
    });

    // Where an error was raised: the first place that its stack names. WebAssembly's own is Python's.
    const PLACE = /[a-z][a-z0-9+.-]*:\/\/[^\s()]+?(?=:\d+:\d+)/gi;
    const raisedIn = ({ stack, fileName, sourceURL }) =>
      String(stack ?? "").match(PLACE)?.find((place) => !place.startsWith("wasm:")) ?? fileName ?? sourceURL;
    const isPython = (error) => error?.name === "PythonError" || /Traceback \(most recent/.test(error?.message);

    addEventListener("error", ({ message, filename, error }) => {
      if (isPython(error) || isOurs(filename)) raised(error, message, filename);
    });
    addEventListener("unhandledrejection", ({ reason }) => {
      const message = String(reason?.message ?? reason);
      const place = reason instanceof Error ? raisedIn(reason) : undefined;
      if (isPython(reason) || isOurs(place)) raised(reason, message, place);
      else if (!place && loading()) suspect(reason, message);
    });
    // What is behind an error that a script met, as far as its kind tells.
    const kindOf = (error) => {
      if (error instanceof SyntaxError) return "damaged";
      return error instanceof TypeError && /fetch|network|load failed/i.test(error.message) ? "connection" : "python";
    };
    const raised = (error, message, place) => {
      const kind = !loading() ? "action" : isPython(error) ? "python" : kindOf(error);
      const problem = Object.assign(new Problem(kind, place && nameOf(place)), { detail: message });
      if (loading()) report(problem);
      else if (root.dataset.state === "ready") fail(problem);
    };
    // Engines do not always say where a module could not be loaded or read: then the files are looked at.
    const suspect = async (reason, message) => {
      const unread = reason instanceof SyntaxError;
      if (!unread && !/fetch|import|load|network/i.test(message)) return;
      const cause = await findCause() ?? (unread ? await findUnreadable() : null);
      // Nothing is wrong any more, but what a lost connection took along does not come back by itself.
      const gone = lost && kindOf(reason) === "connection" ? new Problem("connection", "A file of the page") : null;
      if ((cause ?? gone) && loading()) fail(cause ?? gone);
    };
    const findUnreadable = async () => {
      for (const address of needed().filter((one) => /\.m?js$/.test(one))) {
        const error = await import(address).then(() => null, (reason) => reason);
        if (error instanceof SyntaxError) return new Problem("damaged", nameOf(address), error.message);
      }
      return null;
    };
    addEventListener("securitypolicyviolation", ({ disposition, blockedURI, effectiveDirective }) => {
      if (disposition !== "enforce" || !isOurs(blockedURI)) return;
      report(Object.assign(new Problem("policy"), { detail: `${effectiveDirective}: ${blockedURI}` }));
    });
    if (location.protocol === "file:") report(new Problem("file"));
    else if (typeof WebAssembly !== "object") report(new Problem("wasm"));
    else if (pythonStops()) report(new Problem("policy"));

    return { report, rest };
  };
  window.bonusTokenStart?.explain();
})();
