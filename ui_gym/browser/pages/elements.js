// What a screen reader would say, for browsers whose accessibility tree cannot be read (see
// accessibility.py for the others): [id, role, name, [left, top, width, height], states] for each
// element that can be seen, in the order of the page.
(() => {
  "use strict";
  const ROLES = {
    A: "link", BUTTON: "button", TEXTAREA: "textbox", SELECT: "combobox", TD: "cell",
    TH: "columnheader", IMG: "image", H1: "heading", H2: "heading", H3: "heading", H4: "heading",
    OPTION: "option",
  };
  const INPUT_ROLES = {
    checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", button: "button",
    submit: "button", reset: "button", search: "searchbox",
  };
  // Roles whose name says all that is inside them.
  const WHOLE = new Set([
    "button", "checkbox", "columnheader", "combobox", "heading", "image", "link", "menuitem",
    "menuitemcheckbox", "menuitemradio", "option", "radio", "rowheader", "searchbox", "slider",
    "spinbutton", "switch", "tab", "textbox", "tooltip", "treeitem",
  ]);
  const NAMED_ONLY = new Set(["heading", "image", "columnheader", "rowheader", "tooltip"]);
  // Never told for themselves, only what is in them.
  const SILENT = new Set(["none", "presentation", "table", "grid", "row", "rowgroup", "generic"]);
  const ALIASES = { gridcell: "cell", img: "image" };
  const EDITED = new Set(["textbox", "searchbox"]);
  const VALUED = new Set(["combobox", "slider", "spinbutton", "textbox", "searchbox", "progressbar"]);

  // Numbers that are kept while the page lives, out of sight of its scripts' loops over window.
  const numbers = window.uiGymElementIds ?? Object.defineProperty(
    window, "uiGymElementIds", { value: new Map(), enumerable: false }
  ).uiGymElementIds;
  const idOf = (node) => {
    if (!numbers.has(node)) numbers.set(node, numbers.size);
    return numbers.get(node);
  };

  const roleOf = (node) => {
    const given = node.getAttribute("role");
    if (given) return ALIASES[given] ?? given;
    if (node.tagName === "INPUT") return INPUT_ROLES[node.type] || "textbox";
    if (node.isContentEditable && !node.parentElement?.isContentEditable) return "textbox";
    return ROLES[node.tagName] ?? null;
  };

  const words = (text) => text.replace(/\s+/g, " ").trim();
  const said = (node) => words(node.innerText ?? node.textContent ?? "");
  const nameOf = (node, role) => {
    const by = node.getAttribute("aria-labelledby");
    if (by) return words(by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" "));
    const label = node.getAttribute("aria-label");
    if (label) return words(label);
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName);
    // A button with a label of its own beside it keeps its own text.
    if (field && node.labels?.length) return words([...node.labels].map((each) => each.textContent).join(" "));
    if (node.tagName === "IMG") return node.alt || node.title;
    if (field && role === "button") return node.value;
    if (field || VALUED.has(role)) return node.getAttribute("placeholder") || node.title || "";
    return said(node) || node.title || "";
  };

  const valueOf = (node, role) => {
    if (!VALUED.has(role)) return null;
    const spoken = node.getAttribute("aria-valuetext") ?? node.getAttribute("aria-valuenow");
    if (spoken !== null) return spoken;
    if (node.tagName === "SELECT") return node.selectedOptions[0]?.text ?? "";
    if (node.tagName === "INPUT" || node.tagName === "TEXTAREA") {
      return node.type === "password" ? "•".repeat(node.value.length) : node.value;
    }
    const text = said(node);
    return text || EDITED.has(role) ? text : null;
  };

  const truth = (node, name) => node.getAttribute(`aria-${name}`);
  const statesOf = (node, role) => {
    const states = [];
    const note = (name, holds) => {
      if (holds === true || holds === "true") states.push(name);
      else if (holds === "mixed") states.push(`${name}=mixed`);
    };
    note("focused", node === document.activeElement && node !== document.body);
    note("disabled", node.disabled || truth(node, "disabled"));
    note("checked", node.indeterminate ? "mixed" : node.checked || truth(node, "checked"));
    note("pressed", truth(node, "pressed"));
    note("expanded", truth(node, "expanded"));
    note("selected", truth(node, "selected") ?? (role === "option" && node.selected));
    note("readonly", node.readOnly || truth(node, "readonly"));
    const invalid = truth(node, "invalid");
    if (invalid && invalid !== "false") states.push("invalid");
    const value = valueOf(node, role);
    if (value !== null) states.push(`value=${JSON.stringify(value)}`);
    return states;
  };

  const found = [];
  const cut = (box, clip) => ({
    left: Math.max(box.left, clip.left), top: Math.max(box.top, clip.top),
    right: Math.min(box.right, clip.right), bottom: Math.min(box.bottom, clip.bottom),
  });
  const tell = (node, role, name, box, states) => {
    const [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom].map(Math.round);
    if (right > left && bottom > top) {
      found.push([idOf(node), role, name, [left, top, right - left, bottom - top], states]);
    }
  };

  const tellText = (node, clip) => {
    const text = words(node.data);
    if (!text) return;
    const range = document.createRange();
    range.selectNodeContents(node);
    tell(node, "text", text, cut(range.getBoundingClientRect(), clip), []);
  };

  const visit = (node, clip) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (getComputedStyle(node.parentElement).visibility === "visible") tellText(node, clip);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute("aria-hidden") === "true") return;
    const style = getComputedStyle(node);
    if (style.display === "none") return;
    const role = roleOf(node);
    const seen = cut(node.getBoundingClientRect(), clip);
    let inside = true;
    if (role && !SILENT.has(role) && style.visibility === "visible") {
      const name = nameOf(node, role);
      const controls = role === "cell" && node.querySelector("button, a, input, select, textarea, [role]");
      if (controls) inside = true;
      else if (name || (WHOLE.has(role) && !NAMED_ONLY.has(role))) tell(node, role, name, seen, statesOf(node, role));
      inside = role === "cell" ? Boolean(controls) : !WHOLE.has(role);
    }
    // The words of a label are the name of its control.
    if (!inside || node.tagName === "SCRIPT" || node.tagName === "STYLE") return;
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
    const within = style.position === "fixed" ? screenBox : clips ? seen : clip;
    const silent = node.tagName === "LABEL" && node.control;
    for (const child of node.childNodes) {
      if (!silent || child.nodeType !== Node.TEXT_NODE) visit(child, within);
    }
  };
  const screenBox = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  // Beside the body is what stands around the page (around.js).
  for (const node of document.documentElement?.children ?? []) visit(node, screenBox);
  return found;
})();
