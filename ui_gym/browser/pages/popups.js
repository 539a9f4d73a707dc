// Evaluated in every document of a site before its own scripts: drop-down lists within the page.
//
// The browser's own lists and pickers are windows of their own: no picture shows them, and under
// BeginFrame control nothing is painted any more once one is open. A list is drawn here instead, in
// the part of the page that is seen; date, time, colour and file fields keep their keyboard only.
((seenWidth, seenHeight) => {
  "use strict";
  const PICKERS = new Set(["date", "time", "month", "week", "datetime-local", "color", "file"]);
  const STYLE = `
    :host { all: initial; position: fixed; z-index: 2147483647; overflow-y: auto;
      box-sizing: border-box; border: 1px solid #767676; background: #fff; color: #000; }
    div { padding: 1px 4px; white-space: pre; cursor: default; }
    .group { font-weight: bold; }
    [aria-disabled="true"] { color: #888; }
    [aria-selected="true"] { background: #1967d2; color: #fff; }`;
  let shown = null; // { select, host, rows }

  const hasList = (node) => node instanceof HTMLSelectElement && !node.multiple && node.size <= 1;
  const hasPicker = (node) => node instanceof HTMLInputElement && PICKERS.has(node.type);

  const hide = () => {
    shown?.host.remove();
    shown = null;
  };

  const mark = () => {
    for (const [option, row] of shown.rows) row.setAttribute("aria-selected", String(option.selected));
  };

  const choose = (select, option) => {
    hide();
    if (option.selected) return;
    option.selected = true;
    for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
  };

  const rowOf = (select, option) => {
    const row = document.createElement("div");
    const disabled = option.disabled || option.parentElement.disabled === true;
    row.textContent = option.label || "\u00a0";
    row.setAttribute("role", "option");
    if (disabled) row.setAttribute("aria-disabled", "true");
    else row.addEventListener("mouseup", () => choose(select, option));
    return row;
  };

  const place = (host, select) => {
    const field = select.getBoundingClientRect();
    const [right, bottom] = [Math.min(innerWidth, seenWidth), Math.min(innerHeight, seenHeight)];
    host.style.minWidth = `${field.width}px`;
    const wanted = host.getBoundingClientRect();
    const [below, above] = [bottom - field.bottom, field.top];
    const height = Math.min(wanted.height, Math.max(below, above));
    host.style.height = `${height}px`;
    host.style.top = `${height <= below ? field.bottom : field.top - height}px`;
    host.style.left = `${Math.max(0, Math.min(field.left, right - wanted.width))}px`;
  };

  const show = (select) => {
    hide();
    if (select.disabled) return;
    const host = document.createElement("ui-gym-list");
    const root = host.attachShadow({ mode: "closed" });
    root.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
    host.setAttribute("role", "listbox");
    host.style.font = getComputedStyle(select).font;
    const rows = new Map();
    for (const option of select.options) {
      const group = option.parentElement;
      if (group instanceof HTMLOptGroupElement && group.firstElementChild === option) {
        const title = Object.assign(document.createElement("div"), { textContent: group.label, className: "group" });
        root.append(title);
      }
      rows.set(option, rowOf(select, option));
      root.append(rows.get(option));
    }
    // What happens in the list is nothing to the page but the choice that comes of it.
    for (const type of ["mousedown", "mouseup", "click", "dblclick", "pointerdown", "pointerup"]) {
      host.addEventListener(type, (event) => event.stopPropagation());
    }
    host.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    document.documentElement.append(host);
    shown = { select, host, rows };
    mark();
    place(host, select);
    rows.get(select.selectedOptions[0])?.scrollIntoView({ block: "nearest" });
  };

  const toggle = (select) => {
    if (shown?.select === select) hide();
    else show(select);
  };

  window.addEventListener("mousedown", (event) => {
    if (shown && event.target === shown.host) return;
    const node = event.target;
    if (!hasList(node)) return hide();
    if (event.button !== 0) return;
    event.preventDefault();
    node.focus();
    toggle(node);
  }, true);

  window.addEventListener("click", (event) => {
    if (hasPicker(event.target)) event.preventDefault();
  }, true);

  window.addEventListener("keydown", (event) => {
    const opens = event.key === " " || event.key === "F4" || (event.altKey && /^Arrow(Up|Down)$/.test(event.key));
    const node = event.target;
    if (opens && hasPicker(node)) event.preventDefault();
    if (!hasList(node)) return;
    if (opens) {
      event.preventDefault();
      toggle(node);
    } else if (event.key === "Enter" || (shown && event.key === "Escape")) {
      event.preventDefault();
      if (shown) hide();
      else show(node);
    }
  }, true);

  // Keys go to the field, as when its list is closed; the list shows what they choose.
  window.addEventListener("input", (event) => {
    if (shown?.select === event.target) mark();
  }, true);
  window.addEventListener("blur", (event) => {
    if (shown?.select === event.target) hide();
  }, true);
})(SEEN);
