// The URL's hash holds the whole state of a page: "#/run/ID/episodes?won=0".

import { useEffect, useState } from "./vendor/htm-preact.js";

const listeners = new Set();

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray "%", typed by hand
  }
}

/** What `hash` names: `{view, run, id, params}`. An unknown page has the view "missing". */
export function parse(hash) {
  const [path, text = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decode);
  const params = Object.fromEntries(new URLSearchParams(text));
  const [first, run = "", part, id = ""] = parts;
  if (!first) return { view: "runs", run: "", id: "", params };
  if (first === "compare" && parts.length === 1)
    return { view: "compare", run: "", id: "", params };
  if (first !== "run" || !run) return { view: "missing", run: "", id: "", params };
  if (!part) return { view: "run", run, id: "", params };
  const plain = ["episodes", "groups", "failures", "through", "workers"].includes(part);
  if (plain && parts.length === 3) return { view: part, run, id: "", params };
  const named = ["episode", "group"].includes(part);
  if (named && id && parts.length === 4) return { view: part, run, id, params };
  return { view: "missing", run, id: "", params };
}

/** The hash of a page: `link(["run", run, "episodes"], {won: 0})`. Empty params are left out. */
export function link(parts, params = {}) {
  const path = [parts].flat().map(encodeURIComponent).join("/");
  const kept = Object.entries(params).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  // A hash may hold these as they are, and people read it.
  const text = new URLSearchParams(kept).toString().replace(/%(2F|2C|3A)/g, decodeURIComponent);
  return `#/${path}${text ? `?${text}` : ""}`;
}

function changed() {
  const route = parse(location.hash);
  for (const told of [...listeners]) told(route);
}

window.addEventListener("hashchange", changed);

/** Goes to a page; `replace`: without a new entry in the browser's history. */
export function go(parts, params = {}, { replace = false } = {}) {
  const hash = link(parts, params);
  if (!replace) location.hash = hash;
  else {
    history.replaceState(null, "", hash);
    changed(); // replaceState fires no event
  }
}

/** Changes some of the page's params; "", null and undefined remove one. */
export function setParams(changes, { replace = false } = {}) {
  const path = location.hash.replace(/^#\/?/, "").split("?")[0];
  const parts = path.split("/").filter(Boolean).map(decode);
  go(parts, { ...parse(location.hash).params, ...changes }, { replace });
}

/** The page's route, now and whenever it changes. */
export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    listeners.add(setRoute);
    setRoute(parse(location.hash));
    return () => listeners.delete(setRoute);
  }, []);
  return route;
}
