// A finger on a slider may want to scroll the page. A browser takes the touch for a change of the value
// at once, and tells only later that it became a scroll; so the value waits until that is known.
(() => {
  "use strict";
  const SLOP = 4; // CSS pixels that a finger that only taps may move

  // The touch that is not decided yet: its slider, where it began, the value before and since.
  let held = null;
  const listen = (kinds, handler) => {
    for (const kind of kinds.split(" ")) addEventListener(kind, handler, { capture: true, passive: true });
  };

  listen("pointerdown", ({ target, pointerType, pointerId, isPrimary, clientX, clientY }) => {
    if (!isPrimary) return;
    held = null;
    if (pointerType === "mouse" || target.type !== "range") return;
    held = { slider: target, pointerId, clientX, clientY, before: target.value, since: null, scrolls: false };
  });
  listen("input", (event) => {
    if (event.target !== held?.slider) return;
    event.stopImmediatePropagation();
    held.since = held.slider.value;
    held.slider.value = held.before;
  });
  listen("pointermove", ({ pointerId, clientX, clientY }) => {
    if (pointerId !== held?.pointerId) return;
    const across = Math.abs(clientX - held.clientX);
    if (across > SLOP && across > Math.abs(clientY - held.clientY)) held = null; // a drag: it counts from here
  });
  listen("pointerup", ({ pointerId }) => {
    if (pointerId !== held?.pointerId) return;
    const { slider, since } = held;
    held = null;
    if (since === null) return;
    slider.value = since;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  // Some browsers take the value back by themselves, and tell of that at the touch's end.
  listen("pointercancel", ({ pointerId }) => {
    if (pointerId === held?.pointerId) held.scrolls = true;
  });
  listen("touchend touchcancel keydown", () => {
    const over = held;
    if (over?.scrolls) setTimeout(() => { if (held === over) held = null; });
  });
})();
