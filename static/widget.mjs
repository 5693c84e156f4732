// An anywidget module, for notebooks and for Jupyter Book 2: the <bonus-token> element, its keys as
// traits. A host may have copied this file: then the trait `simulator` says where the simulator is.
const loaded = new Map();

/** Bring the element's script as a page does, which asks the server for no permission. */
const bring = (address) => {
  if (!loaded.has(address)) {
    loaded.set(address, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("static/embed.js", address);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${script.src} did not come: “simulator” names no Bonus Token`));
      document.head.append(script);
    }));
    loaded.get(address).catch(() => loaded.delete(address)); // it may come the next time
  }
  return loaded.get(address);
};

const render = async ({ model, el }) => {
  const own = import.meta.url.match(/^(https?:.*\/)static\/widget\.mjs/)?.[1];
  const address = model.get("simulator") ?? own;
  if (!address) throw new Error("Set “simulator” to the address of the Bonus Token that you host.");
  await bring(address);
  const element = document.createElement("bonus-token");
  const follow = (name, give) => {
    const given = () => {
      const value = model.get(name);
      if (value !== undefined) give(value);
    };
    given();
    model.on(`change:${name}`, given);
  };
  for (const key of ["start", "title", ...element.constructor.observedAttributes]) {
    follow(key, (value) => { element[key] = value; });
  }
  follow("labs", (keys) => {
    for (const [key, value] of Object.entries(keys)) element.setAttribute(key, value);
  });
  follow("picture", (src) => {
    const image = document.createElement("img");
    Object.assign(image, { src, alt: model.get("words") ?? "", width: 720 });
    image.style.cssText = "width: 100%; height: auto";
    element.replaceChildren(image);
  });
  for (const [event, name] of [["ready", "state"], ["state", "state"], ["answer", "answer"]]) {
    element.addEventListener(`bonus-token:${event}`, ({ detail }) => {
      if (model.get(name) === undefined) return; // no one wants to know
      model.set(name, detail);
      try {
        model.save_changes();
      } catch { /* a page has no kernel to save it for */ }
    });
  }
  el.append(element);
  return () => element.remove();
};

export default { render };
