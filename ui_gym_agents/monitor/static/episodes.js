// The table of episodes: pages by a cursor, pictures only where they come into view.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { get, pictureUrl, useChange } from "./api.js";
import { clock, number, purpose } from "./format.js";
import { Empty, Failed, Loading, Outcome, useRows, Whats } from "./parts.js";
import { link } from "./router.js";

const PAGE = 30;

/** A small picture that is only asked for near the visible part of the page. */
export function Thumb({ run, hash, text = "" }) {
  if (!hash) return html`<span class="thumb none" aria-hidden="true"></span>`;
  const source = pictureUrl(run, hash, { thumb: true });
  return html`<img class="thumb" loading="lazy" decoding="async" src=${source} alt=${text} />`;
}

const NOTHING = { rows: null, next: null, total: null, error: null, loading: true };

// New ones first: what came since goes on top. In other orders what is there is brought up to date.
function merge(old, fresh, newest, nameOf) {
  const latest = new Map(fresh.map((row) => [nameOf(row), row]));
  const kept = old.map((row) => latest.get(nameOf(row)) ?? row);
  if (!newest) return kept;
  const known = new Set(old.map(nameOf));
  return [...fresh.filter((row) => !known.has(nameOf(row))), ...kept];
}

/**
 * Rows that come in pages by a cursor: `{rows, next, total, error, loading, more, reload}`.
 *
 * `name` is where the rows lie in the answer, `nameOf` tells rows apart; `newest` says that the
 * newest come first. `run` is the run whose changes count.
 */
export function usePages({ run, path, params, name, nameOf, newest = true }) {
  const key = JSON.stringify([path, params]);
  const [state, setState] = useState({ ...NOTHING, key });
  const current = useRef(key);
  current.current = key;

  const load = async (after, join) => {
    const asked = key;
    setState((old) => ({ ...(old.key === asked ? old : NOTHING), key: asked, loading: true }));
    let change;
    try {
      const page = await get(path, { ...params, after, limit: PAGE });
      change = (old) => ({ ...old, ...join(old, page), error: null, loading: false });
    } catch (error) {
      change = (old) => ({ ...old, error, loading: false });
    }
    if (current.current === asked) setState(change);
  };

  const first = (old, page) => ({ rows: page[name], next: page.next, total: page.total ?? null });
  const fresh = (old, page) => {
    if (!old.rows || old.rows.length <= PAGE) return first(old, page);
    return { rows: merge(old.rows, page[name], newest, nameOf), total: page.total ?? null };
  };
  const append = (old, page) => {
    const known = new Set(old.rows.map(nameOf));
    const added = page[name].filter((row) => !known.has(nameOf(row)));
    return { rows: [...old.rows, ...added], next: page.next };
  };
  const reload = () => load(null, fresh);

  useEffect(() => {
    load(null, first);
  }, [key]);
  useChange(run, reload);
  const shown = state.key === key ? state : NOTHING;
  return { ...shown, reload, more: () => load(shown.next, append) };
}

/** The episodes of `run` that `filters` choose, in pages. */
export function useEpisodes(run, filters) {
  return usePages({
    run,
    path: `/api/runs/${run}/episodes`,
    params: filters,
    name: "episodes",
    nameOf: (episode) => episode.id,
    newest: !filters.order || filters.order === "new",
  });
}

function Row({ run, episode, filters }) {
  const { id, task, goal, seed, group, score, reward, turns, seconds, whats, notes } = episode;
  const href = link(["run", run, "episode", id], filters);
  return html`
    <tr>
      <td class="pictures">
        <${Thumb} run=${run} hash=${episode.first} /><${Thumb} run=${run} hash=${episode.last} />
      </td>
      <td class="main">
        <a class="row" href=${href}>${goal || task}</a>
        <span class="under"><span class="mono">${task}</span> · seed <span class="mono">
          ${seed}</span></span>
      </td>
      <td><${Outcome} of=${episode} /></td>
      <td class="num" data-name="score">${number(score)}</td>
      <td class="num" data-name="reward">${number(reward)}</td>
      <td class="num" data-name="turns">${turns}</td>
      <td class="num" data-name="time">${clock(seconds)}</td>
      <td class="when">
        ${purpose(episode)}
        ${group && episode.kind === "step" && html`
          <a class="under" href=${link(["run", run, "group", group], { step: episode.step })}>
            group</a>`}
      </td>
      <td class="wide"><${Whats} whats=${whats} />${notes && html`
        <span class="note" title=${notes}>${notes}</span>`}</td>
    </tr>
  `;
}

/** Loads on when it comes into view; a button for those who do not scroll. */
export function More({ loading, more }) {
  const ref = useRef(null);
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    const seen = new IntersectionObserver(([entry]) => entry.isIntersecting && latest.current());
    seen.observe(ref.current);
    return () => seen.disconnect();
  }, [loading]);
  return html`
    <p class="more">
      <button ref=${ref} type="button" disabled=${loading} onClick=${more}>
        ${loading ? "Loading…" : "Show more"}
      </button>
    </p>
  `;
}

/**
 * The episodes of `run` that `filters` choose, in a table. J and K move, Enter opens. Links carry
 * the filters, so that an episode's page knows its neighbours.
 */
export function EpisodeTable({ run, filters = {}, label = "Episodes", hint }) {
  const ref = useRef(null);
  const list = useEpisodes(run, filters);
  useRows(ref, "a.row");
  if (!list.rows) {
    if (list.error) return html`<${Failed} error=${list.error} retry=${list.reload} />`;
    return html`<${Loading} text="Loading episodes…" />`;
  }
  const { rows, total, next, error, loading } = list;
  if (!rows.length) {
    const help = hint ?? "Take a filter away, or wait: an episode shows here once it is over.";
    return html`<${Empty} title="No episode matches" hint=${help} />`;
  }
  const count = total === null ? `${rows.length}${next ? " or more" : ""}` : number(total);
  return html`
    <div ref=${ref}>
      <p class="faint count-line" aria-live="polite">${count} episode${total === 1 ? "" : "s"}</p>
      ${error && html`<p class="notice bad" role="alert">Not up to date: ${error.message}</p>`}
      <div class="scroll">
        <table class="episodes fold" aria-label=${label}>
          <thead>
            <tr>
              <th>first, last</th><th>goal</th><th>outcome</th><th class="num">score</th>
              <th class="num">reward</th><th class="num">turns</th><th class="num">time</th>
              <th>played for</th><th>what went wrong</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map((episode) => html`<${Row} key=${episode.id} run=${run} episode=${episode}
              filters=${filters} />`)}
          </tbody>
        </table>
      </div>
      ${next && html`<${More} loading=${loading} more=${list.more} />`}
    </div>
  `;
}
