// Tells the course platform around this page (SCORM 1.2) what became of a prediction. Where there is
// no such platform, the page is the simulator alone.
(() => {
  const FARTHEST = 10; // windows around this one
  const GRADED = ["completed", "passed", "failed"];
  const DIGITS = 6;
  const asks = "asks" in document.documentElement.dataset;
  const told = document.getElementById("told");
  const began = Date.now();

  // The platform's API is an object named API in a window around this one, or around its opener.
  const apiAround = (start) => {
    let here = start;
    for (let far = 0; here && far < FARTHEST; far += 1) {
      try {
        if (here.API?.LMSInitialize) return here.API;
      } catch { /* a window of another origin */ }
      if (here.parent === here) break;
      here = here.parent;
    }
    return null;
  };
  const api = apiAround(window) ?? apiAround(window.opener) ?? apiAround(window.top.opener);
  const call = (name, ...values) => {
    try {
      return String(api[`LMS${name}`](...values));
    } catch {
      return "false";
    }
  };
  const get = (element) => call("GetValue", element);
  const set = (element, value) => call("SetValue", element, String(value)) === "true";

  const two = (number) => String(number).padStart(2, "0");
  const clock = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  const sinceBegin = () => {
    const seconds = Math.floor((Date.now() - began) / 1000);
    const hours = String(Math.floor(seconds / 3600)).padStart(4, "0");
    return `${hours}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  };
  const decimal = (number) => String(Number(number.toPrecision(DIGITS)));

  const say = (text, again = null) => {
    told.textContent = text;
    if (!again) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Send again";
    button.onclick = again;
    told.append(" ", button);
  };

  let counted = false; // whether the prediction that counts is made
  let owed = false; // whether the platform has yet to take what it is worth
  let worth = ""; // points of the prediction that counts, where there are any
  let earlier = 0; // predictions of earlier visits
  let keepsLines = false; // platforms may do without a report of every prediction
  const waiting = []; // lines of that report that the platform has yet to take
  const noted = () => asks && worth !== ""
    ? `Noted in the course: ${worth} of 100 points. Further predictions do not change that.`
    : "Noted in the course.";

  const lineOf = ({ question, prediction, result, score, tick, attempts = 1 }) => ({
    id: `${question}-at-${tick}-attempt-${earlier + attempts}`,
    type: "numeric",
    time: clock(new Date()),
    ...(typeof prediction === "number" && { student_response: decimal(prediction) }),
    ...(typeof result === "number" && { "correct_responses.0.pattern": decimal(result) }),
    result: typeof score === "number" ? score : "neutral",
  });

  // What the platform knows nothing of (2…), or takes in no form (4…), it will not take later either.
  const settled = (taken) => taken || /^[24]/.test(call("GetLastError"));
  const report = (line) => {
    if (line.index === undefined) {
      const count = get("cmi.interactions._count");
      if (!/^\d+$/.test(count)) return false;
      line.index = count;
    }
    const { index, ...parts } = line;
    return Object.entries(parts).every(([name, value]) => settled(set(`cmi.interactions.${index}.${name}`, value)));
  };
  const grade = () => {
    let taken = true;
    if (worth !== "") {
      set("cmi.core.score.min", 0);
      set("cmi.core.score.max", 100);
      taken = set("cmi.core.score.raw", worth);
    }
    return set("cmi.core.lesson_status", "completed") && taken;
  };
  const commit = () => {
    set("cmi.core.session_time", sinceBegin());
    return call("Commit", "") === "true";
  };

  // Everything that the platform has not taken yet, once more where it has to be.
  const send = () => {
    let taken = waiting.every(report);
    if (owed) taken = grade() && taken;
    taken = commit() && taken;
    if (taken) {
      waiting.length = 0;
      owed = false;
      say(noted());
      return;
    }
    const code = call("GetLastError");
    const why = /^[1-9]/.test(code) ? ` (${code}: ${call("GetErrorString", code)})` : "";
    const refused = (what) => `The course platform did not take ${what}${why}.`;
    say(owed ? refused("the result") : `${noted()} ${refused("the last prediction")}`, send);
  };
  const countOnce = (points) => {
    if (counted) return;
    counted = owed = true;
    worth = points;
  };
  const answered = ({ detail }) => {
    if (keepsLines) waiting.push(lineOf(detail));
    countOnce(typeof detail.score === "number" ? String(detail.score) : "");
    send();
  };

  if (!api) {
    if (asks) say("This page was opened outside a course, so the result is noted nowhere.");
    return;
  }
  if (call("Initialize", "") !== "true") {
    say("The course platform does not answer, so the result is noted nowhere. Open this page again from the course.");
    return;
  }
  addEventListener("pagehide", () => {
    set("cmi.core.session_time", sinceBegin());
    call("Finish", "");
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload(); // what was finished cannot be gone on with
  });
  const mode = get("cmi.core.lesson_mode");
  if (mode === "review" || mode === "browse") {
    if (asks) say("This is a preview or a review, so the result is not noted.");
    return;
  }
  counted = GRADED.includes(get("cmi.core.lesson_status"));
  worth = counted ? get("cmi.core.score.raw") : "";
  const lines = get("cmi.interactions._count");
  keepsLines = /^\d+$/.test(lines);
  earlier = Number(lines) || 0;
  set("cmi.core.exit", "suspend"); // what is noted stays with this attempt
  if (counted) say(noted());
  else {
    set("cmi.core.lesson_status", "incomplete");
    commit();
    if (asks) say("The result will be noted in the course.");
    else {
      document.addEventListener("bonus-token:ready", () => {
        countOnce("");
        send();
      }, { once: true });
    }
  }
  if (asks) document.addEventListener("bonus-token:answer", answered);
})();
