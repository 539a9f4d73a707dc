// What the pages of the suite are built from: uiGym.kit. Evaluated in a document that asks for it by
// the mark `<!-- ui-gym kit -->`, before the document's own script.
(() => {
  "use strict";

  // Whether the page is small and lies on a grid (kit_compact.css).
  const compact = Boolean(uiGym.params.compact);

  // -- nodes --

  // Texts are English here and in pages; `make` and what is built on it show them in the page's language.
  // A text with a value in it is said before: say("Page {page} of {pages}", { page, pages }).
  const { say, language } = uiGym;
  const SPOKEN = new Set(["aria-label", "placeholder", "title"]);

  const isProps = (part) => part !== null && typeof part === "object" && !Array.isArray(part) && !(part instanceof Node);

  const setProps = (node, props) => {
    for (const [name, value] of Object.entries(props)) {
      if (value === undefined || value === null || value === false) continue;
      if (SPOKEN.has(name)) node.setAttribute(name, say(value));
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "style" && typeof value === "object") Object.assign(node.style, value);
      else if (name !== "style" && name !== "role" && name in node && !name.includes("-")) node[name] = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
  };

  // make("section.card.wide", { id: "x", onclick: press, "aria-label": "..." }, child, [children], "text")
  // Props may stand anywhere; null, undefined and false are left out.
  const make = (spec, ...parts) => {
    const [tag, ...classes] = spec.split(".");
    const node = document.createElement(tag || "div");
    if (classes.length) node.className = classes.join(" ");
    for (const part of parts.flat(3)) {
      if (part === null || part === undefined || part === false) continue;
      if (isProps(part)) setProps(node, part);
      else node.append(typeof part === "string" ? say(part) : part);
    }
    return node;
  };

  const ICONS = {
    add: "M12 5v14M5 12h14", archive: "M3 5h18v4H3zM5 9v10h14V9M10 13h4", attach: "M8 12l6-6a3 3 0 0 1 4.5 4.5l-8 8a5 5 0 0 1-7-7L11 4",
    back: "M15 5l-7 7 7 7", bag: "M5 8h14l1 12H4zM9 8V7a3 3 0 0 1 6 0v1", bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 20h4",
    bold: "M7 5h6a3.5 3.5 0 0 1 0 7H7zM7 12h7a3.5 3.5 0 0 1 0 7H7z", calendar: "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5",
    cart: "M3 4h3l2 11h10l2-8H7M9 20h.01M17 20h.01", chart: "M4 4v16h16M8 16v-4M12 16V8M16 16v-6", check: "M5 12.5 10 17.5 19 7.5",
    clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2", close: "M6 6l12 12M18 6 6 18", copy: "M9 8h11v13H9zM15 8V3H4v13h5",
    cut: "M6.5 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM6.5 20a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8.5 8 20 17M8.5 16 20 7",
    delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5", down: "M5 9l7 7 7-7", drag: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
    edit: "M4 20h4L20 8l-4-4L4 16zM14 6l4 4", eye: "M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    file: "M6 3h8l4 4v14H6zM14 3v4h4", filter: "M4 5h16l-6 8v6l-4-2v-4z", find: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21",
    flag: "M5 21V4h13l-3 4.5 3 4.5H5", folder: "M3 5h6l2 3h10v11H3z", forward: "M13 6l7 6-7 6v-4c-5 0-8 1-10 5 0-6 3-9 10-9z",
    gear: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1M16.6 16.6l2.1 2.1M18.7 5.3l-2.1 2.1M7.4 16.6l-2.1 2.1",
    globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3c3.5 3.5 3.5 14.5 0 18M12 3c-3.5 3.5-3.5 14.5 0 18M3 12h18", grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
    heart: "M12 20S4 15 4 9a4 4 0 0 1 8-1.5A4 4 0 0 1 20 9c0 6-8 11-8 11z", help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .9-1 1.7M12 17h.01",
    home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z", image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 9h.01", inbox: "M4 13 7 5h10l3 8v6H4zM4 13h5l1 3h4l1-3h5",
    info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v6M12 7.5h.01", italic: "M10 5h8M6 19h8M14.5 5l-5 14", link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01", lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3", mail: "M3 6h18v12H3zM3 7l9 7 9-7",
    menu: "M4 6h16M4 12h16M4 18h16", minus: "M5 12h14", more: "M6 12h.01M12 12h.01M18 12h.01", move: "M3 5h6l2 3h10v11H3zM9 13.5h6M13 11.5l2 2-2 2", next: "M9 5l7 7-7 7",
    page: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6", people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5a6 6 0 0 1 3 5.5",
    paste: "M9 3h6v4H9zM15 5h4v16H5V5h4M9 12h6M9 16h4",
    person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0", pin: "M12 21s7-6 7-11.5a7 7 0 0 0-14 0C5 15 12 21 12 21zM12 7.5a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z",
    plane: "M21 15v-2l-8-5V4a1.5 1.5 0 0 0-3 0v4l-8 5v2l8-2.5V18l-2 1.5V21l3.5-1 3.5 1v-1.5L13 18v-5.5z", print: "M7 9V3h10v6M7 17H4V9h16v8h-3M7 14h10v7H7z",
    refresh: "M20 11a8 8 0 1 0-2 6M20 5v6h-6", reply: "M10 6l-7 6 7 6v-4c5 0 8 1 10 5 0-6-3-9-10-9z", save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6", send: "M21 3 3 10l7 3.5L13.5 21zM10 13.5 21 3",
    share: "M12 15V4M7.5 8 12 3.5 16.5 8M4 14v6h16v-6", shield: "M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z", sort: "M7 4v16M4 17l3 3 3-3M14 6h7M14 12h5M14 18h3",
    star: "M12 4l2.5 5 5.5.8-4 3.9.9 5.5-4.9-2.6-4.9 2.6.9-5.5-4-3.9 5.5-.8z", table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14", tag: "M3 4h8l10 10-7 7L4 11zM8 8h.01",
    truck: "M2 6h12v10H2zM14 10h4l4 4v2h-8M6.5 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM17.5 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z", underline: "M7 4v7a5 5 0 0 0 10 0V4M5 20h14", up: "M5 15l7-7 7 7",
    warning: "M12 4 2.5 20h19zM12 10v5M12 17.5h.01",
  };
  const icon = (name) => {
    if (!(name in ICONS)) throw new Error(`there is no icon ${name}`);
    const holder = document.createElement("template");
    holder.innerHTML = `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
    return holder.content.firstChild;
  };

  // -- controls --

  // button("Save", press, { id: "save", className: "primary" }); the label may be [icon("save"), "Save"].
  const button = (label, press, props = {}) => make("button", { type: "button", onclick: press }, props, label);

  const input = (id, props = {}) => make("input", { id, type: "text", spellcheck: false, autocomplete: "off" }, props);

  // A label above its control, with a hint or an error below it (showError).
  const field = (label, control, hint = "") =>
    make("div.field", make("label", { htmlFor: control.id }, label), control, make("p.hint", { id: `${control.id}-hint` }, hint));
  const showError = (id, text) => {
    const hint = document.getElementById(`${id}-hint`);
    hint.textContent = say(text);
    hint.classList.toggle("error", text !== "");
    document.getElementById(id).setAttribute("aria-invalid", String(text !== ""));
  };

  // A check box or radio button with its label: tick("checkbox", "news", "Send me news", false).
  const tick = (type, id, label, checked = false, props = {}) =>
    make("label.tick", make("input", { id, type, checked }, props), make("span", label));

  // Lets a node float over the page until something else is pressed, or Escape; pressing `anchor`, what
  // it belongs to, is left to the caller. What it returns puts the node in its place.
  const onGrid = (pixels) => 32 * Math.round(pixels / 32);
  let closeOpen = null;  // one floating thing is open at a time
  let openAnchor = null;
  const float = (node, close, anchor = null) => {
    closeOpen?.();
    openAnchor = anchor;
    closeOpen = () => {
      closeOpen = null;
      node.remove();
      close?.();
    };
    document.body.append(node);
    // Below the anchor if there is room, else above; never outside of the window.
    return (left, top, above) => {
      const { offsetWidth: width, offsetHeight: height } = node;
      if (compact) {
        node.style.left = `${Math.min(onGrid(left), document.body.clientWidth - width)}px`;
        node.style.top = `${Math.max(0, Math.min(onGrid(top), innerHeight - height))}px`;
        return;
      }
      node.style.left = `${Math.max(8, Math.min(left, document.body.clientWidth - width - 8))}px`;
      node.style.top = `${Math.max(8, top + height <= innerHeight - 8 ? top : above - height)}px`;
    };
  };
  document.addEventListener("mousedown", (event) => {
    if (closeOpen && !event.target.closest(".float") && !openAnchor?.contains(event.target)) closeOpen();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && closeOpen) {
      event.stopPropagation();
      closeOpen();
    }
  }, true);

  // A drop-down list: a button `#id` that opens `#id-list`, whose options carry data-value. (A native
  // one opens a window of its own in some browsers, which no picture shows.) `options` are strings
  // or [value, label], which other languages put into their own order if props.sorted;
  // dropdown(...).value is what is chosen, "" for nothing yet.
  const dropdown = (id, options, chosen, change, given = {}) => {
    const { sorted, ...props } = given;
    const all = options.map((option) => (Array.isArray(option) ? option : [option, option])).map(([value, label]) => [value, say(label)]);
    if (sorted && language) all.sort(([, one], [, other]) => one.localeCompare(other, language.name));
    const text = make("span");
    const node = make("button.dropdown", { id, type: "button", role: "combobox", "aria-haspopup": "listbox", "aria-expanded": "false" }, props, text, icon("down"));
    const show = (value) => {
      node.chosen = value;
      const found = all.find(([one]) => one === value);
      text.textContent = found ? found[1] : say(props.placeholder ?? "Choose");
      text.className = found ? "" : "muted";
    };
    const choose = (value) => {
      show(value);
      closeOpen?.();
      node.focus();
      change?.(value);
    };
    // Where typed letters lead from an option, as in a browser's own list: one letter, again and again, goes
    // round what begins with it.
    let typed = "";
    let typedAt = -Infinity;
    const isTyping = () => Date.now() - typedAt <= 500;
    const search = (letter, from) => {
      typed = isTyping() ? typed + letter.toLowerCase() : letter.toLowerCase();
      typedAt = Date.now();
      const again = typed === typed[0].repeat(typed.length);
      const wanted = again ? typed[0] : typed;
      for (let step = again ? 1 : 0; step <= all.length; step += 1) {
        const index = (Math.max(0, from + step)) % all.length;
        if (all[index][1].toLowerCase().startsWith(wanted)) return index;
      }
      return -1;
    };
    const isLetter = (event) => event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && (event.key !== " " || isTyping());
    const typeClosed = (event) => {
      if (node.getAttribute("aria-expanded") === "true" || !isLetter(event)) return;
      event.preventDefault();
      const found = search(event.key, all.findIndex(([value]) => value === node.chosen));
      if (found < 0 || all[found][0] === node.chosen) return;
      show(all[found][0]);
      change?.(all[found][0]);
    };
    const open = () => {
      typedAt = -Infinity;
      const items = all.map(([value, label]) => make("div.option", { role: "option", "data-value": value, "aria-selected": String(value === node.chosen), onclick: () => choose(value) }, label));
      const list = make("div.float.listbox", { id: `${id}-list`, role: "listbox", style: { minWidth: `${node.offsetWidth}px` } }, items);
      let marked = all.findIndex(([value]) => value === node.chosen);
      const mark = (index) => {
        items[marked]?.classList.remove("marked");
        marked = Math.max(0, Math.min(index, items.length - 1));
        items[marked].classList.add("marked");
        items[marked].scrollIntoView({ block: "nearest" });
      };
      node.onkeydown = (event) => {
        if (event.key === "Tab") return closeOpen();
        if (event.key === "ArrowDown") mark(marked + 1);
        else if (event.key === "ArrowUp") mark(marked - 1);
        else if (event.key === "Home") mark(0);
        else if (event.key === "End") mark(items.length - 1);
        else if ((event.key === "Enter" || (event.key === " " && !isTyping())) && marked >= 0) choose(all[marked][0]);
        else if (isLetter(event)) {
          const found = search(event.key, marked);
          if (found >= 0) mark(found);
        } else return;
        event.preventDefault();
      };
      const place = float(list, () => {
        node.onkeydown = null;
        node.setAttribute("aria-expanded", "false");
      }, node);
      node.setAttribute("aria-expanded", "true");
      const box = node.getBoundingClientRect();
      place(box.left, box.bottom + 4, box.top - 4);
      if (marked >= 0) mark(marked);
    };
    node.addEventListener("keydown", typeClosed);
    node.addEventListener("click", () => (node.getAttribute("aria-expanded") === "true" ? closeOpen() : open()));
    Object.defineProperty(node, "value", { get: () => node.chosen ?? "", set: show });
    show(chosen ?? "");
    return node;
  };

  // A menu at a point or below a node. Items: { label, icon, press, id, disabled } or null for a line.
  const menu = (at, items, props = {}) => {
    const entries = items.map((item) =>
      item === null
        ? make("hr")
        : make("button.item", { type: "button", role: "menuitem", id: item.id ?? "", disabled: item.disabled ?? false, onclick: () => { closeOpen?.(); item.press(); } }, item.icon && icon(item.icon), item.label));
    const place = float(make("div.float.menu", { role: "menu" }, props, entries));
    if (at instanceof Node) {
      const box = at.getBoundingClientRect();
      place(box.left, box.bottom + 4, box.top - 4);
    } else place(at[0], at[1], at[1]);
  };
  const closeFloating = () => closeOpen?.();

  // A box `#<id of the anchor>-box` that a button opens below itself and closes: { open, close }.
  // `fill` gives what is in it, each time anew; `closed` is told when it went.
  const popover = (anchor, fill, closed) => {
    const isOpen = () => anchor.getAttribute("aria-expanded") === "true";
    const open = () => {
      const node = make("div.float.popover", { id: `${anchor.id}-box`, role: "dialog", "aria-label": compact ? "" : anchor.getAttribute("aria-label") ?? anchor.textContent }, fill());
      const place = float(node, () => {
        anchor.setAttribute("aria-expanded", "false");
        anchor.focus();
        closed?.();
      }, anchor);
      anchor.setAttribute("aria-expanded", "true");
      const box = anchor.getBoundingClientRect();
      place(box.left, box.bottom + 4, box.top - 4);
    };
    const close = () => isOpen() && closeOpen?.();
    anchor.setAttribute("aria-haspopup", "dialog");
    anchor.setAttribute("aria-expanded", "false");
    anchor.addEventListener("click", () => (isOpen() ? close() : open()));
    return { open, close };
  };

  // A small whole number with a button on either side: `#<id>-less` and `#<id>-more`; node.value is it.
  const stepper = (id, label, value, change, { min = 0, max = 9 } = {}) => {
    const text = make("output", { id });
    const by = (step) => () => {
      show(node.number + step);
      change?.(node.number);
    };
    const named = (end) => (compact ? {} : { "aria-label": `${label}${end}` });  // small pages say what is seen
    const less = button(compact ? "-" : icon("minus"), by(-1), { id: `${id}-less`, className: "square", ...named(": one fewer") });
    const more = button(compact ? "+" : icon("add"), by(1), { id: `${id}-more`, className: "square", ...named(": one more") });
    const node = make("div.stepper", compact ? {} : { role: "group", ...named("") }, less, text, more);
    const show = (next) => {
      node.number = Math.max(min, Math.min(max, next));
      text.textContent = String(node.number);
      less.disabled = node.number === min;
      more.disabled = node.number === max;
    };
    Object.defineProperty(node, "value", { get: () => node.number, set: show });
    show(value);
    return node;
  };

  // A dialog over everything, which takes the focus: nothing else can be reached until its `close`,
  // which is returned, gives the focus back. Actions are nodes, usually buttons.
  const dialog = (title, body, actions, props = {}) => {
    closeOpen?.();
    const before = document.activeElement;
    const others = [...document.body.children].filter((other) => !other.inert);
    const node = make("div.dialog", { role: "dialog", "aria-modal": "true", "aria-label": title, tabIndex: -1 }, props, title && make("h2", title), make("div.body", body), actions && make("div.actions", actions));
    const veil = make("div.veil", node);
    // Tab would leave the page after the last control; here it goes round.
    const turn = (event) => {
      if (event.key !== "Tab" || veil.inert) return;
      const stops = [...node.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((one) => !one.disabled && one.tabIndex >= 0);
      const at = stops.indexOf(document.activeElement);
      if (event.shiftKey ? at > 0 : at >= 0 && at < stops.length - 1) return;
      event.preventDefault();
      stops.at(event.shiftKey ? -1 : 0)?.focus();
    };
    document.addEventListener("keydown", turn);
    document.body.append(veil);
    for (const other of others) other.inert = true;
    node.focus();
    return () => {
      document.removeEventListener("keydown", turn);
      veil.remove();
      for (const other of others) other.inert = false;
      before?.focus?.();
    };
  };

  // A dialog with a button `#cancel` and one more, `#ok`, which closes it unless `act` gives false. Enter
  // presses it, Escape cancels. It gives the button `#ok`.
  const ask = (title, body, label, act, { danger = false } = {}) => {
    const ok = button(label, () => act() !== false && close(), { id: "ok", className: danger ? "primary danger" : "primary" });
    const shut = dialog(title, body, [button("Cancel", () => close(), { id: "cancel" }), ok]);
    const key = (event) => {
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && !["BUTTON", "TEXTAREA"].includes(event.target.tagName)) ok.click();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const close = () => {
      document.removeEventListener("keydown", key, true);
      shut();
    };
    document.addEventListener("keydown", key, true);
    ok.focus();
    return ok;
  };

  // A line at the bottom that tells what happened; it goes after `ms` of page time (an action takes 50).
  const toast = (text, ms = 500) => {
    document.querySelector(".toast")?.remove();
    const node = make("div.toast", { role: "status" }, text);
    document.body.append(node);
    setTimeout(() => node.remove(), ms);
  };

  // -- dragging with the mouse --

  // Lets things inside `area` be dragged. `grab(event)` gives the node that is taken up, or nothing;
  // `over(node, event)` shows where it would fall, `drop(node, event)` lets it fall (event.target is
  // what lies there), and `end(node)` tidies up, also after Escape.
  const drags = (area, { grab, over, drop, end }) => {
    area.addEventListener("mousedown", (press) => {
      const node = press.button === 0 ? grab(press) : null;
      if (!node) return;
      let ghost = null;
      const move = (event) => {
        if (ghost === null && Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < 4) return;
        if (ghost === null) {
          const box = node.getBoundingClientRect();
          ghost = make("div.ghost", { "aria-hidden": "true", style: { width: `${box.width}px`, left: `${box.left}px`, top: `${box.top}px` } }, node.cloneNode(true));
          for (const copy of ghost.querySelectorAll("[id]")) copy.removeAttribute("id");
          document.body.append(ghost);
          node.classList.add("dragged");
        }
        ghost.style.translate = `${event.clientX - press.clientX}px ${event.clientY - press.clientY}px`;
        over?.(node, event);
      };
      const stop = () => {
        document.removeEventListener("mousemove", move);
        document.removeEventListener("mouseup", release);
        document.removeEventListener("keydown", escape, true);
        ghost?.remove();
        node.classList.remove("dragged");
      };
      const release = (event) => {
        stop();
        if (ghost === null) return;
        drop(node, event);
        end?.(node);
      };
      const escape = (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        stop();
        end?.(node);
      };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", release);
      document.addEventListener("keydown", escape, true);
    });
  };

  // -- frames of apps --

  const THEMES = 6;
  const theme = (number) => {
    document.body.classList.add("app", `theme-${number % THEMES}`);
    const { look, arranged = [] } = uiGym.params;
    if (look) document.body.classList.add(`look-${look}`, ...arranged);
    if (compact) document.body.classList.add("compact");
  };

  // The bar at the top: shell("Parcel", { mark: "truck", title: "Orders", initials: "HB" }, ...more)
  const shell = (name, { mark = "grid", title = "", initials = "" } = {}, ...more) =>
    make("header.shell", make("div.mark", icon(mark)), make("strong", name), title && make("span.title", title), more, initials && make("div.face", { "aria-hidden": "true" }, initials));

  // Links at the side: { label, icon, count, here, press, id }
  const sidebar = (items) =>
    make("nav.side", items.map((item) =>
      make("button.entry", { type: "button", id: item.id ?? "", onclick: item.press, "aria-current": item.here ? "page" : undefined }, item.icon && icon(item.icon), make("span", item.label), item.count !== undefined && make("b", String(item.count)))));

  // -- a browser's window --

  // Tabs in a strip and, below, what is in the current one. A tab: { name, icon, address, body }. The host
  // is told of each that is shown ("show") and of each that is closed ("shut"). It gives
  // { node, state }, where state() says which are open and which is current, null if none is left.
  const browserWindow = (tabs, at = 0) => {
    const open = tabs.map((_, i) => i);
    let current = at;
    const place = make("span.address");
    const nothing = make("p.nothing", { hidden: true }, "No tab");
    const strip = make("div.strip", { role: "tablist" });
    const pages = tabs.map(({ body }) => make("div.within", body));

    const draw = () => {
      pages.forEach((page, i) => (page.hidden = i !== current));
      entries.forEach(([entry, name], i) => {
        entry.classList.toggle("here", i === current);
        name.setAttribute("aria-selected", String(i === current));
      });
      place.textContent = tabs[current]?.address ?? "";
      nothing.hidden = current !== null;
    };
    const show = (i) => () => {
      if (i === current) return;
      closeOpen?.();
      current = i;
      uiGym.log("show", { tab: i });
      draw();
    };
    const shut = (i) => () => {
      closeOpen?.();
      const seat = open.indexOf(i);
      open.splice(seat, 1);
      entries[i][0].remove();
      if (current === i) current = open[Math.min(seat, open.length - 1)] ?? null;
      uiGym.log("shut", { tab: i });
      draw();
    };
    const entries = tabs.map(({ name, icon: mark }, i) => {
      const label = button([!compact && icon(mark), make("span", name)], show(i), { id: `tab-${i}`, role: "tab", className: "label" });
      const cross = button(compact ? "x" : icon("close"), shut(i), { id: `shut-${i}`, className: "cross", "aria-label": compact ? `${name} x` : `Close the tab ${name}` });
      return [make("div.tab", label, cross), label];
    });
    strip.append(...entries.map(([entry]) => entry));
    draw();
    const tools = ["back", "next", "refresh"].map(icon);
    const bar = make("div.places", tools, make("div.place", icon("lock"), place));
    return {
      node: make("div.window", strip, !compact && bar, pages, nothing),
      state: () => ({ open: [...open], current }),
    };
  };

  // -- words and numbers --

  const MONTHS = language?.months ?? ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  const DAYS = language ? [language.weekdays.at(-1), ...language.weekdays] : ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const dayOf = (iso) => {
    const [year, month, day] = iso.split("-").map(Number);
    return new Date(Date.UTC(year, month - 1, day));
  };
  const format = {
    money: (cents) => `$${Math.floor(cents / 100).toLocaleString("en-US")}.${String(cents % 100).padStart(2, "0")}`,
    number: (value) => value.toLocaleString("en-US"),
    date: (iso) => say(language?.dates[0] ?? "{day} {month} {year}", { day: Number(iso.slice(8)), month: MONTHS[Number(iso.slice(5, 7)) - 1], year: iso.slice(0, 4) }),
    weekday: (iso) => DAYS[dayOf(iso).getUTCDay()],
    initials: (name) => name.split(/\s+/).map((part) => part[0]).slice(0, 2).join("").toUpperCase(),
  };

  uiGym.kit = { compact, make, icon, button, input, field, showError, tick, dropdown, float, menu, closeFloating, popover, stepper, dialog, ask, toast, drags, theme, shell, sidebar, browserWindow, format, dayOf, MONTHS, DAYS };
})();
