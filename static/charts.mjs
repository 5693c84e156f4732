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

/** Draw a chart from a specification in JSON; gives what changes its data, also in JSON. `clicked`
 * gets the row of whatever the reader clicks, in JSON too. */
export async function draw(place, specification, renderer, clicked) {
  await loaded;
  const quiet = { actions: false, defaultStyle: false, tooltip: false, logLevel: ERRORS };
  const settings = { renderer, ...quiet };
  const { view, finalize } = await globalThis.vegaEmbed(place, JSON.parse(specification), settings);
  // The place has a description, and the table the numbers; the marks alone would say little.
  place.setAttribute("role", "img");
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
  return {
    update(data) {
      for (const [name, rows] of Object.entries(JSON.parse(data))) view.data(name, rows);
      return view.runAsync();
    },
    finalize,
  };
}
