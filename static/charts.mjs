// Draws the charts: Vega-Lite specifications come from Python, and so does their data. The libraries
// are loaded when the first chart comes near the screen.
const LIBRARIES = ["vega/vega.min.js", "vega-lite/vega-lite.min.js", "vega-embed/vega-embed.min.js"];
const ERRORS = 1; // Vega would warn of data that is still to come

const loaded = (async () => {
  for (const name of LIBRARIES) {
    await new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(`./vendor/${name}`, import.meta.url).href;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${name} could not be loaded`));
      document.head.append(script);
    });
  }
})();

/** Where the stops of a drawn chart are, and the mark at one of them. A stop is [x, y] by the chart's
 * own axes, y being null where it is a whole upright line. */
function pointing(place, view) {
  const mark = document.createElement("div");
  mark.className = "chart-at";
  mark.hidden = true;
  place.append(mark);
  let [stops, at] = [[], -1];
  const plot = () => {
    const box = place.querySelector("svg, canvas").getBoundingClientRect();
    const [left, top] = view.origin(), padding = view.padding();
    return { left: box.left + left + padding.left, top: box.top + top + padding.top };
  };
  const along = (axis, value) => {
    const scale = view.scale(axis);
    return scale(value) + (scale.bandwidth ? scale.bandwidth() / 2 : 0);
  };
  const show = (index) => {
    at = index;
    mark.hidden = index < 0;
    if (mark.hidden) return;
    const [x, y] = stops[index], { left, top } = plot(), box = place.getBoundingClientRect();
    mark.classList.toggle("point", y !== null);
    mark.style.left = `${left - box.left + along("x", x)}px`;
    mark.style.top = `${top - box.top + (y === null ? 0 : along("y", y))}px`;
    mark.style.height = y === null ? `${view.height()}px` : "";
  };
  view.addResizeListener(() => view.runAfter(() => show(at)));
  return {
    stops(list) {
      [stops, at] = [JSON.parse(list), -1];
    },
    nearest(clientX, clientY) {
      const { left, top } = plot();
      const far = ([x, y]) => Math.hypot(
        along("x", x) - clientX + left, y === null ? 0 : along("y", y) - clientY + top);
      let [best, least] = [-1, Infinity];
      stops.forEach((stop, index) => {
        const distance = far(stop);
        if (distance < least) [best, least] = [index, distance];
      });
      return best;
    },
    mark: show,
  };
}

/** Keep a chart as wide as its place while it is near the screen, as it is told; one that is away
 * has time until it comes near. */
function following(place, view) {
  let near = true, width = view.container().clientWidth;
  const fit = () => {
    const room = view.container().clientWidth;
    if (!near || !room || room === width) return;
    width = room;
    view.width(width).runAsync();
  };
  const size = new ResizeObserver(fit);
  size.observe(place);
  return {
    near(now) {
      near = now;
      fit();
    },
    part: () => size.disconnect(),
  };
}

/** A compiled specification whose width is set from outside alone: Vega's own would follow its
 * container, and draw at once what is far away. */
const still = (spec) => ({
  ...spec,
  signals: spec.signals.map((signal) => (signal.name === "width" ? { ...signal, on: [] } : signal)),
});

/** Draw a chart from a specification in JSON; gives what changes its data, also in JSON, and what
 * points at its values. `clicked` gets the row of whatever the reader clicks, in JSON too. */
export async function draw(place, specification, renderer, clicked) {
  await loaded;
  const quiet = { actions: false, defaultStyle: false, tooltip: false, logLevel: ERRORS };
  const settings = { renderer, patch: still, ...quiet };
  const told = ["role", "aria-label"].map((name) => [name, place.getAttribute(name)]);
  const { view, finalize } = await globalThis.vegaEmbed(place, JSON.parse(specification), settings);
  // The place has a description, and the table the numbers; the marks alone would say little.
  for (const [name, value] of told) place.setAttribute(name, value);
  place.removeAttribute("aria-roledescription");
  place.querySelector("form")?.remove();
  for (const drawn of place.querySelectorAll("svg, canvas")) drawn.setAttribute("aria-hidden", "true");
  // A finger is nowhere before it taps, and Vega asks only what the pointer was over.
  const canvas = place.querySelector("canvas");
  canvas?.parentElement.addEventListener("mousedown", (event) => {
    canvas.dispatchEvent(new PointerEvent("pointermove", event));
  }, { capture: true });
  view.addEventListener("click", (_event, item) => {
    if (item?.datum) clicked(JSON.stringify(item.datum));
  });
  const { near, part } = following(place, view);
  return {
    ...pointing(place, view),
    near,
    update(data) {
      for (const [name, rows] of Object.entries(JSON.parse(data))) view.data(name, rows);
      return view.runAsync();
    },
    finalize() {
      part();
      finalize();
    },
  };
}
