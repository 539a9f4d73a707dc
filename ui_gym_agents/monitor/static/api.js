// What the pages ask the server for, and how they hear of changes.
//
// Paths are those of the API ("/api/runs/..."). They are resolved against the page's own folder, so
// that the monitor also works behind a proxy with a prefix. In the single-file export the answers
// lie in the page itself.

import { useCallback, useEffect, useRef, useState } from "./vendor/htm-preact.js";

const WAIT = 250; // at most one refetch per view in as many milliseconds
const KEPT = 40; // answers kept, so that going back shows something at once

let archived; // the export's content; null where the page is live

function archive() {
  if (archived === undefined) {
    const held = document.getElementById("archive");
    archived = held ? JSON.parse(held.textContent) : null;
  }
  return archived;
}

/** Whether this is the single-file export: nothing changes, nothing can be posted. */
export function isStatic() {
  return archive() !== null;
}

/** An answer that says what is wrong; `status` is that of HTTP, or 0 without an answer. */
export class ApiError extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

function query(params) {
  const pairs = Object.entries(params ?? {})
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => [name, String(value)])
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return new URLSearchParams(pairs).toString();
}

function keyOf(path, params) {
  const text = query(params);
  return text ? `${path}?${text}` : path;
}

function address(key) {
  return new URL(`.${key}`, document.baseURI).href;
}

/** The address of a file of the API, to link to it. */
export function fileUrl(path, params) {
  return address(keyOf(path, params));
}

/** Of a picture; in the export its data. */
export function pictureUrl(run, hash, { thumb = false } = {}) {
  const held = archive();
  if (held) return held.pictures[hash] ?? "";
  const path = `/api/runs/${encodeURIComponent(run)}/pictures/${hash}`;
  return fileUrl(path, thumb ? { thumb: 1 } : {});
}

async function answer(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    // Not JSON: what a proxy or a server that fell over says. The status tells.
  }
  if (!response.ok)
    throw new ApiError(body?.error ?? `The server answered ${response.status}.`, response.status);
  return body;
}

async function ask(key, options) {
  let response;
  try {
    response = await fetch(address(key), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The monitor does not answer. Is ui-gym-monitor still running?", 0);
  }
  return answer(response);
}

/** Of a list of episodes in an exported page, those that fit: the server would have chosen them. */
function chosen(answer, params = {}) {
  if (!answer?.episodes) return answer;
  const words = (params.q ?? "").toLowerCase().split(/\s+/);
  const fits = (episode) => Object.entries(params).every(([name, value]) => {
    if (value === "" || value == null) return true;
    if (name === "won") return episode.success === (String(value) === "1");
    if (name === "what") return episode.whats.includes(value);
    if (name === "q") {
      const said = `${episode.goal} ${episode.notes}`.toLowerCase();
      return words.every((word) => said.includes(word));
    }
    return !(name in episode) || String(episode[name]) === String(value);
  });
  const episodes = answer.episodes.filter(fits);
  return { ...answer, episodes, total: episodes.length };
}

/** The answer to GET `path`. Raises ApiError. */
export async function get(path, params, { signal } = {}) {
  const key = keyOf(path, params);
  const held = archive();
  if (!held) return ask(key, { signal, headers: { Accept: "application/json" } });
  const found = held.responses[key] ?? chosen(held.responses[path], params);
  if (found === undefined) throw new ApiError("This is not part of the exported page.", 404);
  return found;
}

/** The answer to POST `path` with `body` as JSON. Raises ApiError. */
export async function post(path, body) {
  if (isStatic()) throw new ApiError("An exported page cannot change anything.", 403);
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-UI-Gym": "monitor" },
    body: JSON.stringify(body),
  });
}

// -- changes -------------------------------------------------------------------------------------

const listeners = new Set(); // {run, heard}
const watchers = new Set(); // told whether the stream is up
let stream = null;
let broken = false; // it was lost: what came meanwhile is not known
let connected = true;

function tell(change) {
  for (const { run, heard } of [...listeners])
    if (run === "*" || change.run === "*" || change.run === run) heard(change);
}

function setConnected(value) {
  if (value === connected) return;
  connected = value;
  for (const told of watchers) told(value);
}

function close() {
  stream?.close();
  stream = null;
}

function opened() {
  setConnected(true);
  if (broken) tell({ run: "*" });
  broken = false;
}

function failed() {
  setConnected(false);
  broken = true;
  if (stream?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
  close();
  setTimeout(open, 3000);
}

function open() {
  if (stream || isStatic() || document.hidden || !listeners.size) return;
  stream = new EventSource(address("/api/events"));
  stream.addEventListener("open", opened);
  stream.addEventListener("error", failed);
  stream.addEventListener("change", (event) => tell(JSON.parse(event.data)));
}

// Browsers allow few connections to one server: a hidden tab gives its own back.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    broken = broken || stream !== null;
    close();
  } else open();
});

/** Calls `heard(change)` whenever `run` ("*": any) changes. Returns what stops that. */
export function onChange(run, heard) {
  const listener = { run, heard };
  listeners.add(listener);
  open();
  return () => listeners.delete(listener);
}

/** Whether the stream of changes is up. */
export function useConnected() {
  const [value, setValue] = useState(connected);
  useEffect(() => {
    watchers.add(setValue);
    setValue(connected);
    return () => watchers.delete(setValue);
  }, []);
  return value;
}

/** `work`, but at most once in WAIT milliseconds, and once more after the last call. */
export function throttled(work) {
  let timer = null;
  let last = -Infinity;
  const call = () => {
    if (timer !== null) return;
    const now = performance.now();
    timer = setTimeout(
      () => {
        timer = null;
        last = performance.now();
        work();
      },
      Math.max(0, last + WAIT - now),
    );
  };
  call.stop = () => clearTimeout(timer);
  return call;
}

/** Calls `heard` (throttled) while the component is shown and `run` changes. */
export function useChange(run, heard) {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    if (!run) return undefined;
    const call = throttled(() => latest.current());
    const stop = onChange(run, call);
    return () => {
      stop();
      call.stop();
    };
  }, [run]);
}

// -- data of a component --------------------------------------------------------------------------

const cache = new Map();

function remember(key, data) {
  cache.delete(key);
  cache.set(key, data);
  if (cache.size > KEPT) cache.delete(cache.keys().next().value);
}

const seen = (key) => (key === null ? undefined : cache.get(key));

/**
 * The answer to GET `path` (null: ask nothing), asked again when `run` ("*": any run) changes, and
 * every so many seconds if `every` is set: for what changes without an event, as ages do.
 *
 * Old data stay while new are loading; with another `path` only if `keep` is set.
 */
export function useData(path, params, { run = null, keep = false, every = 0 } = {}) {
  const key = path === null ? null : keyOf(path, params);
  const [state, setState] = useState({ key, path, data: seen(key), error: null, loading: true });
  const [count, setCount] = useState(0);
  const reload = useCallback(() => setCount((value) => value + 1), []);

  useEffect(() => {
    if (key === null) return undefined;
    const control = new AbortController();
    setState((old) => {
      const same = old.key === key || keep || old.path === path;
      const data = seen(key) ?? (same ? old.data : undefined);
      return { key, path, data, error: null, loading: true };
    });
    get(path, params, { signal: control.signal }).then(
      (data) => {
        remember(key, data);
        if (!control.signal.aborted) setState({ key, path, data, error: null, loading: false });
      },
      (error) => {
        if (!control.signal.aborted) setState((old) => ({ ...old, error, loading: false }));
      },
    );
    return () => control.abort();
  }, [key, count]);

  useChange(run, reload);
  useEffect(() => {
    if (!every || key === null || isStatic()) return undefined;
    const timer = setInterval(() => document.hidden || reload(), 1000 * every);
    return () => clearInterval(timer);
  }, [key, every]);
  // The first drawing with another key comes before the effect: never another run's data.
  const valid = state.key === key || keep || state.path === path;
  return {
    data: valid ? state.data : seen(key),
    error: state.key === key ? state.error : null,
    loading: key !== null && (state.loading || state.key !== key),
    reload,
  };
}
