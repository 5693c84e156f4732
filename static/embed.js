// <bonus-token k="12" alpha="0.6" lock="alpha">: the simulator in a page of yours. Attributes are the
// keys of its links; children, a picture say, are shown until the reader starts it, or with
// start="auto" until it is in view. At most two run at once: one more parks the oldest as a picture.
(() => {
  // A module is no current script; its address stands in the trace of what it does.
  const own = `${document.currentScript?.src} ${new Error().stack}`.match(/https?:\S*?\/static\/embed\.js/);
  if (!own) throw new Error("<bonus-token>: static/embed.js must be fetched from the simulator's own address, not be part of a bundle");
  const PAGE = new URL("../index.html", own[0]);
  const known = customElements.get("bonus-token");
  if (known) {
    if (known.page !== PAGE.href) console.warn(`<bonus-token> is there already, from ${known.page}: ${own[0]} changes nothing`);
    return;
  }
  const PREFIX = "bonus-token:";
  const KEYS = "speculation k alpha rates cache c c0 batch knee chunk seed evict force tick speed play show lock ask asktext story theme lab words".split(" "); // printed
  const SWITCHES = "speculation cache play words".split(" "); // printed
  const PLAIN_CALLS = "play pause evict reset picture".split(" "); // printed
  const PROPERTIES = ["start", ...KEYS];
  const ofLab = (name) => name.includes(".");
  // Others may be slips, which the simulator points out; not what HTML, frameworks and this element know.
  const KNOWN = /[-:@]|^(on|item|start$|embed$|class$|is$|key$|ref$|tabindex$|contenteditable$|accesskey$)/;
  const perhapsMeant = (name) => !KEYS.includes(name) && !KNOWN.test(name) && !(name in HTMLElement.prototype);
  const WAKE = "Wake the simulator";
  const MOST_RUNNING = 2;
  const [LOOK_EVERY, PICTURE_WAIT, LOAD_WAIT] = [500, 1500, 20000]; // milliseconds
  const HIGHEST = 5000; // px
  const running = []; // the oldest first
  const leave = (one) => {
    if (running.includes(one)) running.splice(running.indexOf(one), 1);
  };

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; margin: 1em 0 }
    :host([hidden]), [hidden] { display: none }
    .poster { display: grid; min-height: 96px; place-items: center }
    .poster > * { grid-area: 1 / 1 }
    .poster > div, svg { width: 100%; height: auto }
    iframe { display: block; width: 100%; border: 0; color-scheme: normal }
    canvas { display: block; width: 784px; max-width: 100%; height: 0 } /* where a place shrinks to fit */
    button { z-index: 1; padding: 12px 20px; border: 1px solid #fff; border-radius: 8px;
      background: #1d1c1a; color: #fff; font: 600 15px system-ui; cursor: pointer }
    .poster[hidden] { display: none }
    @media print {
      .poster[hidden] { display: grid }
      iframe, button { display: none }
    }`);

  // A picture is built anew, of shapes and words alone: nothing in it can act.
  const SHAPES = ["svg", "g", "path", "rect", "text"];
  const DRAWN = /^(viewBox|width|height|[xyd]|fill|stroke(-\w+)?|transform|font-\w+|role|aria-label)$/;
  const copy = (from) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", from.localName);
    for (const { name, value } of from.attributes) if (DRAWN.test(name)) made.setAttribute(name, value);
    for (const part of from.childNodes) {
      if (part.nodeType === Node.TEXT_NODE) made.append(part.data);
      else if (SHAPES.includes(part.localName)) made.append(copy(part));
    }
    return made;
  };

  // How light a colour is, 0 to 1; null where it is see-through.
  const lightness = (colour) => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    return alpha < 128 ? null : (0.3 * red + 0.6 * green + 0.1 * blue) / 255;
  };

  class BonusToken extends HTMLElement {
    static observedAttributes = KEYS;
    static page = PAGE.href;

    /** The last state that the simulator told, with its numbers; null before the first. */
    state = null;
    #frame = null;
    #ready = false;
    #parking = false;
    #answer = null; // called with the picture that was asked for
    #scene = null; // of a parked element, as fields to set
    #asked = null; // how far its question was
    #outbox = []; // what was said before it could be heard
    #theme = "";
    #began = 0;
    #heard = false;
    #looking = 0;
    #sight = null;
    #poster = document.createElement("div");
    #held = document.createElement("div"); // the children, or the picture of a parked scene
    #button = document.createElement("button");

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      this.#poster.className = "poster";
      this.#button.type = "button";
      const begin = async () => {
        await this.start();
        this.#frame?.focus();
      };
      this.#button.onclick = begin;
      this.#held.onclick = (event) => {
        if (!this.#startsAt(event)) return;
        event.preventDefault();
        begin();
      };
      this.#poster.append(this.#button, this.#held);
      this.#showChildren("Start the simulator");
      root.append(this.#poster, document.createElement("canvas"));
      new MutationObserver((changes) => {
        for (const { attributeName: name } of changes) if (ofLab(name)) this.attributeChangedCallback(name);
      }).observe(this, { attributes: true });
    }

    connectedCallback() {
      for (const name of PROPERTIES) { // set before there was a setter
        if (!Object.hasOwn(this, name)) continue;
        const value = this[name];
        delete this[name];
        this[name] = value;
      }
      addEventListener("message", this.#hear);
      this.#looking = setInterval(() => this.#look(), LOOK_EVERY);
      if (this.getAttribute("start") !== "auto" || this.#scene) return;
      this.#sight = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        this.#sight.disconnect();
        this.start();
      });
      this.#sight.observe(this);
    }

    disconnectedCallback() {
      removeEventListener("message", this.#hear);
      clearInterval(this.#looking);
      this.#sight?.disconnect();
      leave(this);
      if (this.#frame) this.#stop(); // its scene is kept, should it come back
    }

    attributeChangedCallback(name) {
      const value = this.#value(name);
      if (name === "theme") this.#theme = value; // from here on the host's may differ from it
      if (this.#frame) this.set({ [name]: value });
      else if (this.#scene) {
        this.#scene[name] = value;
        this.#showChildren(WAKE);
      }
    }

    /** Start the simulator, or wake it where it was parked. */
    async start() {
      this.#parking = false;
      if (running.includes(this) || !this.isConnected) return;
      running.push(this);
      if (this.#frame) return this.#flush(); // it was about to be parked
      await Promise.all(running.slice(0, -MOST_RUNNING).map((oldest) => oldest.park()));
      if (!running.includes(this) || this.#frame) return;
      const url = new URL(PAGE);
      url.searchParams.set("embed", 1);
      for (const name of KEYS) {
        const value = this.#value(name);
        if (value !== null) url.searchParams.set(name, value);
      }
      for (const { name, value } of this.attributes) if (ofLab(name) || perhapsMeant(name)) url.searchParams.set(name, value);
      this.#theme = this.#value("theme");
      const frame = document.createElement("iframe");
      frame.src = url.href;
      frame.title = this.title || "Bonus Token: a KV cache and speculative decoding";
      frame.scrolling = "no"; // it is as high as its content
      frame.style.height = `${Math.max(480, this.#poster.offsetHeight)}px`;
      this.#frame = frame;
      this.#heard = false;
      this.#began = Date.now();
      this.#poster.hidden = true;
      this.shadowRoot.append(frame);
    }

    /** Stop it, and show its scene as a picture; starting it again goes on from there. */
    async park() {
      leave(this);
      const frame = this.#frame;
      if (!frame || this.#parking) return;
      const answer = this.#ready && await new Promise((resolve) => {
        this.#answer = resolve;
        this.picture();
        this.#parking = true;
        setTimeout(resolve, PICTURE_WAIT);
      });
      if (this.#frame !== frame || (this.#ready && !this.#parking)) return;
      this.#stop(answer || {});
    }

    // Take the frame away, and keep its scene: `svg`, `query` and `asked` are what it answered, if it did.
    #stop({ svg, query, asked } = {}) {
      if (this.#ready) [this.#scene, this.#asked] = [this.#kept(query), asked];
      this.#frame.remove();
      this.#frame = null;
      this.#ready = this.#parking = false;
      this.#poster.hidden = false;
      if (!this.#scene) return;
      this.#showChildren(WAKE);
      try {
        const drawn = new DOMParser().parseFromString(String(svg), "image/svg+xml").documentElement;
        if (drawn.localName === "svg") this.#held.replaceChildren(copy(drawn));
      } catch { /* the host forbids parsing: the children stand in */ }
    }

    // The scene as fields to set. How it is shown, and what it asks, only the widget's link says.
    #kept(query) {
      const { params, tick } = this.state;
      const scene = { ...params };
      if (typeof query === "string") {
        const keys = new URLSearchParams(query);
        for (const name of ["tick", "speed", "show", "lock", "ask", "asktext", "story"]) scene[name] = keys.get(name);
        for (const [name, value] of keys) if (ofLab(name)) scene[name] = value;
      } else if (!this.hasAttribute("ask")) scene.tick = tick;
      return scene;
    }

    // Whether a click is one on the picture; a link beside it leads where it leads, and a new tab opens as ever.
    #startsAt({ target, ctrlKey, metaKey, shiftKey, defaultPrevented }) {
      if (ctrlKey || metaKey || shiftKey || defaultPrevented) return false;
      const link = target.closest("a");
      return link ? link.href.startsWith(new URL(".", PAGE).href) : !!target.closest("img, svg");
    }

    #showChildren(label) {
      this.#held.replaceChildren(document.createElement("slot"));
      this.#button.textContent = label;
    }

    #value(name) {
      const value = this.getAttribute(name);
      if (name === "theme") return value ?? this.#hostTheme();
      return value === "" && SWITCHES.includes(name) ? "on" : value;
    }

    // What a host may ask for; it happens once the simulator is there.
    set(fields) { this.#send("set", fields); }
    seek(tick) { this.#send("seek", { tick }); }
    step(n = 1) { this.#send("step", { n }); }
    static {
      for (const name of PLAIN_CALLS) {
        this.prototype[name] = function () { this.#send(name); };
      }
    }

    // Frameworks assign properties where there are any: each key has one, which is its attribute, and
    // those that are calls too stay calls. What is no longer given comes as null, or as "" in Preact.
    static {
      for (const name of PROPERTIES) {
        const call = this.prototype[name];
        Object.defineProperty(this.prototype, name, {
          get() { return call ?? this.getAttribute(name); },
          set(value) {
            const isSwitch = SWITCHES.includes(name);
            const empty = value === "" && (!isSwitch || this.hasAttribute(name));
            if (value == null || empty || (value === false && !isSwitch)) this.removeAttribute(name);
            else this.setAttribute(name, [value].flat().map((item) => [item].flat().join(":")));
          },
        });
      }
    }

    #send(name, fields) {
      if (this.#ready && !this.#parking) this.#frame.contentWindow.postMessage({ ...fields, type: PREFIX + name }, "*");
      else this.#outbox.push([name, fields]);
    }

    #flush() {
      for (const held of this.#outbox.splice(0)) this.#send(...held);
    }

    #hear = ({ source, origin, data }) => {
      if (!this.#frame || source !== this.#frame.contentWindow) return;
      if (origin !== PAGE.origin && origin !== "null") return; // it has gone elsewhere
      if (typeof data?.type !== "string" || !data.type.startsWith(PREFIX)) return;
      this.#heard = true;
      const { type, ...detail } = data;
      const name = type.slice(PREFIX.length);
      if (name === "resize" && detail.height > 0) {
        this.#frame.style.height = `${Math.min(detail.height, HIGHEST)}px`;
      }
      if (name === "picture") this.#answer?.(detail);
      if (name === "key" && detail.key === "Escape") this.#frame.blur();
      if (name === "ready") {
        if (this.#ready) [this.#scene, this.#asked] = [this.#kept(), null]; // the frame was loaded anew
        this.#ready = true;
        if (this.#scene) this.set(this.#scene);
        if (this.#scene && this.#asked) this.#send("resume", this.#asked);
        this.#scene = null;
        this.#flush();
      }
      if (name === "ready" || name === "state") this.state = detail;
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    };

    // Dark is where the text is lighter than what it stands on.
    #hostTheme() {
      const text = lightness(getComputedStyle(this).color) ?? 0;
      let ground = null;
      for (let part = this; part && ground === null; part = part.parentElement) {
        ground = lightness(getComputedStyle(part).backgroundColor);
      }
      return text > (ground ?? 0.5) ? "dark" : "light";
    }

    // Follow the host's colours; give up on a page that does not come.
    #look() {
      if (!this.#frame) return;
      if (!this.#heard && Date.now() - this.#began > LOAD_WAIT) {
        leave(this);
        this.#stop();
        this.#button.textContent = "It could not be loaded. Try again";
        return;
      }
      const theme = this.#value("theme");
      if (theme !== this.#theme) this.set({ theme });
      this.#theme = theme;
    }
  }

  customElements.define("bonus-token", BonusToken);
})();
