// The rollouts of one start, side by side: where they part, and what came of it.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { get, pictureUrl, useData } from "../api.js";
import { number } from "../format.js";
import { Crumbs, Empty, Failed, Loading, Outcome, Select, useKeys } from "../parts.js";
import { Pictures } from "../player_pictures.js";
import { Screen } from "../player_screen.js";
import { link, setParams } from "../router.js";

const ORDERS = [["played", "as played"], ["best", "best first"], ["worst", "worst first"]];
const HEIGHT = 300; // pixels that a member's picture may be high
const COLUMN = 158; // pixels of width of a member, at least
const MANY = 120; // rows of actions; of longer episodes those around the turn are shown

const worth = (episode) => [Number(Boolean(episode.success)), episode.reward ?? episode.score ?? 0, -episode.turns];

/** The members in an order: "played", "best" (success, reward, fewer turns) or "worst". */
export function sorted(episodes, order) {
  const all = [...episodes];
  if (order !== "best" && order !== "worst") return all;
  const sign = order === "best" ? -1 : 1;
  return all.sort((one, other) => {
    const [a, b] = [worth(one), worth(other)];
    const at = a.findIndex((value, key) => value !== b[key]);
    return at < 0 ? 0 : sign * (a[at] - b[at]);
  });
}

/** What was said in one turn, as thought and action, which is its last line. */
export function parted(text) {
  const lines = text.trim().split("\n");
  const action = lines.pop();
  return { thought: lines.join(" "), action };
}

/** The most frequent of `values`; null where no two are the same. */
export function usual(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [best] = [...counts].sort(([, one], [, other]) => other - one);
  return best && best[1] > 1 ? best[0] : null;
}

/** Positions of the rows to show: all, or those around `at` where there are very many. */
export function rowsAround(count, at, most = MANY) {
  const start = Math.max(0, Math.min(count - most, at - Math.floor(most / 2)));
  return Array.from({ length: Math.min(count, most) }, (_, row) => start + row);
}

// -- a member -------------------------------------------------------------------------------------

/** The marks of each member's turns; they come later than the pictures: {id: [marks]}. */
function useMarks(run, episodes) {
  const [marks, setMarks] = useState({});
  const ids = episodes.map((episode) => episode.id).join("\n");
  useEffect(() => {
    let gone = false;
    const work = async () => {
      for (const id of ids.split("\n")) {
        if (gone) return;
        try {
          const whole = await get(`/api/runs/${encodeURIComponent(run)}/episodes/${encodeURIComponent(id)}`);
          if (!gone) setMarks((old) => ({ ...old, [id]: whole.turns.map((turn) => turn.marks) }));
        } catch {
          // The pictures are shown without marks then; the episode's own page says why.
        }
      }
    };
    setMarks({});
    if (ids) work();
    return () => {
      gone = true;
    };
  }, [run, ids]);
  return marks;
}

function Numbers({ episode }) {
  const sign = episode.advantage > 0 ? "good" : episode.advantage < 0 ? "bad" : "";
  return html`
    <p class="member-numbers">
      <span>reward <b class="num">${number(episode.reward ?? episode.score)}</b></span>
      ${episode.advantage !== null && html`<span>advantage <b class="num ${sign}">${episode.advantage > 0 ? "+" : ""}${number(episode.advantage)}</b></span>`}
      <span class="num faint">${episode.turns} turns</span>
    </p>
  `;
}

function Member({ run, episode, at, marks, pictures }) {
  const last = episode.pictures.length - 1;
  const here = Math.min(at, last);
  const over = at >= last;
  const turn = { picture: episode.pictures[here] ?? "", marks: over ? [] : (marks?.[here] ?? []) };
  const to = link(["run", run, "episode", episode.id], { turn: here, group: episode.group });
  return html`
    <div class="member ${over ? "over" : ""}">
      <p class="member-head"><a href=${to}>${episode.episode || episode.id}</a> <${Outcome} of=${episode} /></p>
      <${Numbers} episode=${episode} />
      <a href=${to} class="member-screen" title="Open at this turn" tabindex="-1">
        <${Screen} run=${run} turn=${turn} pictures=${pictures} height=${HEIGHT} shown=${{ words: false }} label="Episode ${episode.episode || episode.id}, turn ${here + 1}" />
      </a>
      <p class="member-at faint">${over ? `ended after turn ${last}` : `turn ${here + 1} of ${last}`}</p>
      ${over && episode.notes && html`<p class="member-notes">${episode.notes}</p>`}
    </div>
  `;
}

// -- the table of actions -------------------------------------------------------------------------

const other = (value, most) => (most !== null && value !== most ? "other" : "");

function Cell({ said, thought, action }) {
  if (said === null) return html`<td class="ended"></td>`;
  return html`
    <td title=${`${said.thought}\n${said.action}`.trim()}>
      ${said.thought && html`<span class="thought ${other(said.thought, thought)}">${said.thought}</span>`}
      <code class=${other(said.action, action)}>${said.action || "(nothing)"}</code>
    </td>
  `;
}

function ActionRow({ episodes, row, part, at, choose }) {
  const cells = episodes.map(({ actions }) => (row < actions.length ? parted(actions[row]) : null));
  const there = cells.filter((said) => said !== null);
  const [thought, action] = [usual(there.map((said) => said.thought)), usual(there.map((said) => said.action))];
  return html`
    <tr class="${row === at ? "current" : ""} ${row === part ? "part" : ""}" data-row=${row}>
      <th scope="row"><button type="button" class="quiet num" aria-current=${row === at ? "step" : null} onClick=${() => choose(row)}>${row + 1}</button></th>
      ${cells.map((said, key) => html`<${Cell} key=${episodes[key].id} said=${said} thought=${thought} action=${action} />`)}
    </tr>
    ${row === part && html`<tr class="part-note"><td colspan=${episodes.length + 1}><span>↑ here they part first</span></td></tr>`}
  `;
}

function Flags({ group }) {
  const faults = group.episodes.filter((episode) => episode.failure).length;
  const won = group.episodes.filter((episode) => episode.success).length;
  return html`
    <p class="group-flags">
      <span>${won} of ${group.episodes.length} succeeded</span>
      ${group.equal && html`<span class="badge warn" title="Advantages are differences within a group: equal rewards make all of them 0">all rewards are equal: nothing to learn from</span>`}
      ${group.part === null && html`<span class="badge">all did the same</span>`}
      ${group.part !== null && html`<span class="badge accent">they part at turn ${group.part + 1}</span>`}
      ${faults > 0 && html`<span class="badge bad">${faults} failed for the environment's sake</span>`}
    </p>
  `;
}

function Slider({ at, last, part, choose }) {
  return html`
    <div class="group-slider">
      <label for="group-turn">Turn</label>
      <input id="group-turn" type="range" min="0" max=${last} value=${at} aria-valuetext="turn ${at + 1}" onInput=${(event) => choose(Number(event.target.value))} />
      <span class="num">${at < last ? `turn ${at + 1} of ${last}` : "the end"}</span>
      ${part !== null && html`<button type="button" onClick=${() => choose(part)}>Where they part <kbd>p</kbd></button>`}
    </div>
  `;
}

function useTurn(route, group) {
  const last = Math.max(0, ...group.episodes.map((episode) => episode.actions.length));
  const inside = (value) => Math.min(last, Math.max(0, value));
  const asked = route.params.turn ? Number(route.params.turn) || 0 : (group.part ?? 0);
  const [at, setAt] = useState(inside(asked));
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const choose = (value) => {
    const next = inside(value);
    setAt(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setParams({ turn: next }, { replace: true }), 250);
  };
  return { at, last, choose };
}

function Board({ route, group }) {
  const { run } = route;
  const order = route.params.order ?? "played";
  const episodes = useMemo(() => sorted(group.episodes, order), [group, order]);
  const { at, last, choose } = useTurn(route, group);
  const marks = useMarks(run, group.episodes);
  const pictures = useMemo(() => new Pictures((hash) => pictureUrl(run, hash)), [run]);
  useEffect(() => () => pictures.close(), [pictures]);
  useEffect(() => {
    // Turn by turn, not member by member: what the slider needs next comes first.
    const turns = Array.from({ length: last + 1 }, (_, turn) => group.episodes.map((one) => one.pictures[turn] ?? ""));
    pictures.preload(turns.flat(), 0);
  }, [pictures, group]);
  const toPart = () => group.part !== null && choose(group.part);
  useKeys({
    ArrowLeft: [() => choose(at - 1), "Turn before, in all"],
    ArrowRight: [() => choose(at + 1), "Next turn, in all"],
    Home: [() => choose(0), "First turn"],
    End: [() => choose(last), "The end"],
    p: [toPart, "Where they part first"],
    s: [() => setParams({ order: ORDERS[(ORDERS.findIndex(([name]) => name === order) + 1) % ORDERS.length][0] }, { replace: true }), "Sort in another way"],
  });
  return html`
    <div class="group-bar">
      <${Slider} at=${at} last=${last} part=${group.part} choose=${choose} />
      <${Select} label="Sort" value=${order} options=${ORDERS} onChange=${(value) => setParams({ order: value }, { replace: true })} />
    </div>
    <div class="group-scroll" tabindex="0" role="region" aria-label="Rollouts side by side">
      <table class="group-table" aria-label="The rollouts, turn by turn" style=${{ minWidth: `${COLUMN * episodes.length}px` }}>
        <thead>
          <tr>
            <th scope="col" class="corner">Turn</th>
            ${episodes.map((episode) => html`
              <th key=${episode.id} scope="col"><${Member} run=${run} episode=${episode} at=${at} marks=${marks[episode.id]} pictures=${pictures} /></th>
            `)}
          </tr>
        </thead>
        <tbody>
          ${rowsAround(last, at).map((row) => html`<${ActionRow} key=${row} episodes=${episodes} row=${row} part=${group.part} at=${at} choose=${choose} />`)}
        </tbody>
      </table>
    </div>
  `;
}

/** `#/run/ID/group/GROUP?step=N`. */
export function Group({ route }) {
  const { run, id } = route;
  const { step } = route.params;
  const base = `/api/runs/${encodeURIComponent(run)}`;
  const { data: group, error, reload } = useData(`${base}/groups/${encodeURIComponent(id)}`, { step });
  const { data: about } = useData(base);
  if (error && !group) return html`<${Failed} error=${error} retry=${reload} />`;
  if (!group) return html`<${Loading} text="Loading the group…" />`;
  const crumbs = [
    { text: "Runs", href: "#/" },
    { text: about?.name ?? "Run", href: link(["run", run]) },
    { text: "Groups", href: link(["run", run, "groups"], { step }) },
    { text: `Group ${group.group}, step ${group.step}` },
  ];
  return html`
    <div class="episode-head">
      <${Crumbs} items=${crumbs} />
      <span class="faint">${group.task}, seed ${String(group.seed)}</span>
      <span class="episode-links"><a href=${link(["run", run, "through"], { task: group.task, seed: group.seed })}>through training</a></span>
    </div>
    <h1 class="goal-text">${group.goal}</h1>
    <${Flags} group=${group} />
    ${group.episodes.length
      ? html`<${Board} key=${`${group.group} ${group.step}`} route=${route} group=${group} />`
      : html`<${Empty} title="This group has no episodes yet" hint="They come as soon as its step is played." />`}
  `;
}
