// One start (task and seed) through training: how it was played at each step.

import { html, useMemo } from "../vendor/htm-preact.js";
import { useData } from "../api.js";
import { percent, purpose } from "../format.js";
import { Empty, Failed, Loading, Select, useKeys } from "../parts.js";
import { Player } from "../player.js";
import { link, setParams } from "../router.js";
import { RunHead } from "./episodes.js";

/** Whether a play succeeded, a person's override first; null where the environment failed. */
export function wonBy(play) {
  if (play.failure) return null;
  return play.override ? play.override === "success" : Boolean(play.success);
}

/**
 * When it began to succeed: `{n, successes, first, steady}`, positions in `plays` or null. From
 * `steady` on all succeeded. Plays that the environment failed say nothing.
 */
export function beginnings(plays) {
  const known = plays.map((play, at) => ({ at, won: wonBy(play) })).filter(({ won }) => won !== null);
  const firstWon = known.find(({ won }) => won);
  const lastLost = known.map(({ won }) => won).lastIndexOf(false);
  const after = known[lastLost + 1];
  return {
    n: known.length,
    successes: known.filter(({ won }) => won).length,
    first: firstWon ? firstWon.at : null,
    steady: after ? after.at : null,
  };
}

const placeOf = (play) => (play.kind === "baseline" ? "before training" : purpose(play));

/** `beginnings` in words. */
export function beginningText(plays) {
  const { n, successes, first, steady } = beginnings(plays);
  if (!n) return "Only faults of the environment: they say nothing about the agent.";
  if (first === null) return `It has not succeeded yet, in ${n} plays.`;
  const share = `${successes} of ${n} succeeded (${percent(successes / n)})`;
  if (steady === first) return `First success: ${placeOf(plays[first])}, and always since. ${share}.`;
  const since = steady === null ? "not steady: the last play failed" : `always since ${placeOf(plays[steady])}`;
  return `First success: ${placeOf(plays[first])}; ${since}. ${share}.`;
}

const SIGNS = { true: ["won", "✓", "success"], false: ["lost", "✗", "failure"], null: ["fault", "!", "the environment's fault"] };

function Strip({ plays, at, choose }) {
  return html`
    <ol class="outcome-strip" aria-label="Outcomes along training">
      ${plays.map((play, key) => {
        const [kind, sign, text] = SIGNS[String(wonBy(play))];
        return html`
          <li key=${play.id}>
            <button type="button" class="cell ${kind}" aria-current=${key === at ? "true" : null} aria-label="${placeOf(play)}: ${text}"
              title="${placeOf(play)}: ${text}, ${play.turns} turns" onClick=${() => choose(key)}>${sign}</button>
            <span class="num faint" aria-hidden="true">${play.kind === "baseline" ? 0 : play.step}</span>
          </li>
        `;
      })}
    </ol>
  `;
}

function Plays({ route, plays }) {
  const { run, params } = route;
  const wanted = plays.findIndex((play) => play.id === params.at);
  const { first } = beginnings(plays);
  const at = wanted >= 0 ? wanted : (first ?? plays.length - 1);
  const play = plays[at];
  const choose = (next) => {
    const inside = Math.min(plays.length - 1, Math.max(0, next));
    setParams({ at: plays[inside].id, turn: "" }, { replace: true });
  };
  const path = `/api/runs/${encodeURIComponent(run)}/episodes/${encodeURIComponent(play.id)}`;
  const { data: episode, error, reload } = useData(path, {}, { keep: true });
  const next = at + 1 < plays.length ? () => choose(at + 1) : null;
  const before = at > 0 ? () => choose(at - 1) : null;
  useKeys({
    "]": [() => choose(at + 1), "Next step of training"],
    "[": [() => choose(at - 1), "Step of training before"],
  });
  const current = episode?.id === play.id;
  return html`
    <p class="through-said" role="status">${beginningText(plays)}</p>
    <${Strip} plays=${plays} at=${at} choose=${choose} />
    <div class="group-slider">
      <label for="through-at">Through training</label>
      <input id="through-at" type="range" min="0" max=${plays.length - 1} value=${at} aria-valuetext=${placeOf(play)} onInput=${(event) => choose(Number(event.target.value))} />
      <a href=${link(["run", run, "episode", play.id])}>${placeOf(play)}</a>
    </div>
    ${error && !current && html`<${Failed} error=${error} retry=${reload} />`}
    ${!episode && !error && html`<${Loading} text="Loading the episode…" />`}
    ${episode && html`
      <div class=${current ? "" : "stale"}>
        <${Player} run=${run} episode=${episode} turn=${current ? params.turn : undefined}
          onTurn=${(turn) => setParams({ turn }, { replace: true })} onNext=${next} onPrevious=${before} onOverride=${reload} />
      </div>
    `}
  `;
}

function Played({ route, task, seed }) {
  const path = `/api/runs/${encodeURIComponent(route.run)}/through`;
  const { data, error, reload } = useData(path, { task, seed });
  if (error && !data) return html`<${Failed} error=${error} retry=${reload} />`;
  if (!data) return html`<${Loading} />`;
  if (!data.plays.length) return html`<${Empty} title="This start was not played" hint="Choose another task or seed." />`;
  return html`<${Plays} key=${`${task} ${seed}`} route=${route} plays=${data.plays} />`;
}

/** Names of tasks with seeds that were played at several steps, in order. */
function tasksOf(seeds) {
  return [...new Set(seeds.map(({ task }) => task))].sort();
}

function playsText({ n, successes }) {
  return successes === undefined ? `${n} plays` : `${successes} of ${n} succeeded`;
}

/** `#/run/ID/through?task=&seed=&at=`; `at` is the id of an episode. */
export function Through({ route }) {
  const { run, params } = route;
  const base = `/api/runs/${encodeURIComponent(run)}`;
  const { data: about } = useData(base);
  const every = useData(`${base}/seeds`);
  const chosen = useData(params.task ? `${base}/seeds` : null, { task: params.task }, { keep: true });
  const { data, error, reload } = params.task ? chosen : every;
  const all = every.data;
  const tasks = useMemo(() => tasksOf([...(all?.seeds ?? []), ...(params.task ? [{ task: params.task }] : [])]), [all, params.task]);
  const head = html`<${RunHead} run=${run} name=${about?.name} active="through" title="Through training" />`;
  if (error && !data) return html`${head}<${Failed} error=${error} retry=${reload} />`;
  if (!data) return html`${head}<${Loading} />`;
  const task = params.task || data.seeds[0]?.task;
  const seeds = data.seeds.filter((one) => one.task === task);
  const seed = params.seed || (seeds.length ? String(seeds[0].seed) : "");
  if (!task || seed === "")
    return html`
      ${head}
      <${Empty} title="Nothing was played at several steps yet"
        hint="Evaluations play the same seeds each time. This page fills with the second one: see evaluation and run.eval_every in the run's settings." />
    `;
  const options = seeds.map((one) => [String(one.seed), `${one.seed} (${playsText(one)})`]);
  if (!options.some(([value]) => value === seed)) options.unshift([seed, seed]);
  const clear = { seed: "", at: "", turn: "" };
  return html`
    ${head}
    <div class="through-bar">
      <${Select} label="Task" value=${task} options=${tasks} onChange=${(value) => setParams({ ...clear, task: value })} />
      <${Select} label="Seed" value=${seed} options=${options} onChange=${(value) => setParams({ ...clear, task, seed: value })} />
    </div>
    <${Played} route=${route} task=${task} seed=${seed} />
  `;
}
