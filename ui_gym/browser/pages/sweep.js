// Evaluated once in a fresh page, after world.js: uiGym.sweep() takes away what a document leaves
// behind when the next one takes its place in the same realm. (Listeners go with the document, and
// timers with uiGym.begin.)
(() => {
  "use strict";
  const observers = new Set();
  window.MutationObserver = class extends MutationObserver {
    constructor(callback) {
      super(callback);
      observers.add(this);
    }
  };
  const own = new Set(Reflect.ownKeys(window));

  // What was copied outlives the document: put nothing in its place. (A script may do so where the
  // host says that a user asked for it.)
  const emptyClipboard = () => {
    const copy = (event) => {
      event.clipboardData.setData("text/plain", "");
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    window.addEventListener("copy", copy, { capture: true, once: true });
    document.execCommand("copy");
    window.removeEventListener("copy", copy, { capture: true });
  };

  uiGym.sweep = () => {
    if (uiGym.copied) emptyClipboard();
    uiGym.copied = false;
    for (const observer of observers) observer.disconnect();
    observers.clear();
    for (const key of Reflect.ownKeys(window)) if (!own.has(key)) delete window[key];
    for (const cookie of document.cookie.split("; ")) document.cookie = `${cookie.split("=")[0]}=; max-age=0`;
    localStorage.clear();
    sessionStorage.clear();
    document.adoptedStyleSheets = [];
    if (location.pathname !== "/") history.replaceState(null, "", "/");
  };
})();
