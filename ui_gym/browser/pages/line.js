// Evaluated before world.js where the host cannot be called from a page: what the page reports waits
// here until the host asks for it. Pages can add to it, and neither change nor take away.
(() => {
  "use strict";
  const part = Function.prototype.call.bind(String.prototype.slice);
  const frame = window.requestAnimationFrame.bind(window);  // the browser's, not the page's clock
  let told = "";
  window.uiGymEvent = (text) => void (told += `${text}\n`);  // world.js takes it away at once
  window.close = () => {};
  const line = Object.freeze({
    told: (from) => [part(told, from), told.length],
    frames: () => new Promise((done) => frame(() => frame(() => done()))),
  });
  Object.defineProperty(window, "uiGymLine", { value: line, configurable: false, writable: false });
})();
