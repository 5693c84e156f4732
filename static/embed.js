// <bonus-token k="12" alpha="0.6" lock="alpha">: the simulator in a page of yours. Attributes are the
// keys of its links; children, a picture say, are shown until the reader starts it, or with
// start="auto" until it is in view. At most two run at once: one more parks the oldest as a picture.
(() => {
  if (customElements.get("bonus-token")) return;
  const PAGE = new URL("../index.html", document.currentScript.src);
  const PREFIX = "bonus-token:";
  const MOST_RUNNING = 2;
  const PICTURE_WAIT = 1500; // milliseconds that a widget may take to draw its picture
  const THEME_WAIT = 400; // milliseconds that a host may take to change its colours
  const HEIGHTS = [80, 5000]; // what a height may be, in px
  const NOT_KEYS = /^(start|title|class|id|style|slot|hidden|dir|lang|role|data-.*|aria-.*|on.*)$/;
  const running = [];

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; margin: 1em 0 }
    :host([hidden]), [hidden] { display: none !important }
    .poster { position: relative; display: grid; min-height: 96px; place-items: center }
    .poster > div, svg { width: 100%; height: auto }
    iframe { display: block; width: 100%; border: 0; color-scheme: normal }
    button { grid-area: 1 / 1; z-index: 1; padding: 12px 20px; border: 1px solid #fff; border-radius: 8px;
      background: #1d1c1a; color: #fff; font: 600 15px system-ui, sans-serif; cursor: pointer }
    button:focus-visible { outline: 3px solid #2563b8; outline-offset: 2px }
    .poster > div { grid-area: 1 / 1 }
    @media print { button { display: none } }`);

  // A picture from the widget is taken apart and built anew: shapes and words, nothing that can act.
  const SHAPES = ["svg", "g", "path", "rect", "text"];
  const DRAWN = /^(viewBox|width|height|x|y|d|rx|fill|stroke|stroke-(width|linejoin|linecap)|transform|font-(family|size|weight)|role|aria-label)$/;
  const copy = (from) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", from.localName);
    for (const { name, value } of from.attributes) if (DRAWN.test(name)) made.setAttribute(name, value);
    for (const part of from.childNodes) {
      if (part.nodeType === Node.TEXT_NODE) made.append(part.data);
      else if (SHAPES.includes(part.localName)) made.append(copy(part));
    }
    return made;
  };

  class BonusToken extends HTMLElement {
    /** The last state that the widget told, with its numbers; null before the first. */
    state = null;
    #frame = null;
    #ready = false;
    #outbox = [];
    #query = null; // of a parked scene
    #picture = null; // called with the widget's answer
    #theme = "";
    #poster = document.createElement("div");
    #held = document.createElement("div"); // the picture of a parked scene, or else the children
    #button = document.createElement("button");

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      this.#poster.className = "poster";
      this.#held.append(document.createElement("slot"));
      this.#button.type = "button";
      this.#button.textContent = "Start the simulator";
      this.#button.onclick = () => {
        this.start();
        this.#frame.focus();
      };
      this.#poster.append(this.#held, this.#button);
      root.append(this.#poster);
    }

    connectedCallback() {
      addEventListener("message", this.#hear);
      this.#changes = new MutationObserver((records) => this.#attributesChanged(records));
      this.#changes.observe(this, { attributes: true });
      this.#look = new MutationObserver(this.#followTheme);
      for (const part of [document.documentElement, document.body]) this.#look.observe(part, { attributes: true });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.#followTheme);
      if (this.getAttribute("start") !== "auto") return;
      this.#sight = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        this.#sight.disconnect();
        this.start();
      });
      this.#sight.observe(this);
    }

    #changes; #look; #sight;

    disconnectedCallback() {
      removeEventListener("message", this.#hear);
      matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.#followTheme);
      for (const observer of [this.#changes, this.#look, this.#sight]) observer?.disconnect();
      this.#stop();
    }

    /** Start the simulator, or wake it where it was parked. */
    start() {
      if (this.#frame) return;
      while (running.length >= MOST_RUNNING) running[0].park();
      running.push(this);
      const url = new URL(PAGE);
      if (this.#query !== null) url.search = this.#query;
      else {
        for (const { name, value } of this.attributes) {
          if (!NOT_KEYS.test(name)) url.searchParams.set(name, value);
        }
      }
      url.searchParams.set("embed", "1");
      this.#theme = this.#hostTheme();
      if (!this.hasAttribute("theme")) url.searchParams.set("theme", this.#theme);
      const frame = document.createElement("iframe");
      frame.src = url.href;
      frame.title = this.title || "Bonus Token: a KV cache and speculative decoding";
      frame.allow = "clipboard-write";
      frame.style.height = `${Math.max(480, this.#poster.offsetHeight)}px`;
      this.#frame = frame;
      this.#poster.hidden = true;
      this.shadowRoot.append(frame);
    }

    /** Stop it, and show its scene as a picture; starting it again goes on from there. */
    async park() {
      const frame = this.#frame;
      if (!frame) return;
      running.splice(running.indexOf(this), 1);
      const answer = this.#ready && await new Promise((resolve) => {
        this.#picture = resolve;
        this.picture();
        setTimeout(resolve, PICTURE_WAIT);
      });
      if (this.#frame !== frame) return;
      if (answer && typeof answer.svg === "string" && typeof answer.query === "string") {
        const drawn = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
        if (drawn.localName === "svg") this.#held.replaceChildren(copy(drawn));
        this.#query = answer.query;
        this.#button.textContent = "Go on";
      }
      this.#stop();
    }

    #stop() {
      if (running.includes(this)) running.splice(running.indexOf(this), 1);
      this.#frame?.remove();
      this.#frame = null;
      this.#ready = false;
      this.#poster.hidden = false;
    }

    // What a host may ask for; it happens once the simulator is there.
    set(fields) { this.#send("set", fields); }
    seek(tick) { this.#send("seek", { tick }); }
    step(n = 1) { this.#send("step", { n }); }
    play() { this.#send("play"); }
    pause() { this.#send("pause"); }
    evict() { this.#send("evict"); }
    reset() { this.#send("reset"); }
    picture() { this.#send("picture"); }

    #send(name, fields) {
      const message = { ...fields, type: PREFIX + name };
      if (this.#ready) this.#frame.contentWindow.postMessage(message, "*");
      else this.#outbox.push([name, fields]);
    }

    #hear = ({ source, origin, data }) => {
      if (!this.#frame || source !== this.#frame.contentWindow) return;
      if (origin !== PAGE.origin && origin !== "null") return; // it has gone elsewhere
      if (typeof data?.type !== "string" || !data.type.startsWith(PREFIX)) return;
      const { type, ...detail } = data;
      const name = type.slice(PREFIX.length);
      if (name === "resize") {
        const height = Number(detail.height);
        if (Number.isFinite(height)) this.#frame.style.height = `${Math.min(Math.max(height, HEIGHTS[0]), HEIGHTS[1])}px`;
      } else if (name === "picture") this.#picture?.(detail);
      if (name === "ready") {
        this.#ready = true;
        for (const held of this.#outbox.splice(0)) this.#send(...held);
      }
      if (name === "ready" || name === "state") this.state = detail;
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    };

    #attributesChanged(records) {
      const changed = {};
      for (const { attributeName: name } of records) {
        if (!NOT_KEYS.test(name)) changed[name] = this.getAttribute(name);
      }
      if (!Object.keys(changed).length) return;
      if (this.#frame) this.set(changed);
      else this.#query = null;
    }

    // The colour of the text tells whether the page around is dark.
    #hostTheme() {
      const pen = document.createElement("canvas").getContext("2d");
      pen.fillStyle = getComputedStyle(this).color;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
      return red + green + blue > 384 ? "dark" : "light";
    }

    #followTheme = () => {
      const look = () => {
        if (!this.#frame || this.hasAttribute("theme")) return;
        const theme = this.#hostTheme();
        if (theme !== this.#theme) this.set({ theme });
        this.#theme = theme;
      };
      look();
      setTimeout(look, THEME_WAIT);
    };
  }

  customElements.define("bonus-token", BonusToken);
})();
