// All that is known of one turn and its episode, beside the picture.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { isStatic } from "./api.js";
import { clock, number, percent, purpose, when } from "./format.js";
import { Outcome, Whats } from "./parts.js";
import { actionLine } from "./player_marks.js";
import { canOverride, OverrideForm, Overrides } from "./player_override.js";
import { TokenInput, TokenOutput, TokensShown, useTokens } from "./tokens.js";

const OPEN = "ui-gym-monitor-sections";
const AT_FIRST = { said: true, verdict: true, tokens: true };

let latest = null; // as chosen on this page, whatever the storage does

function remembered() {
  if (latest) return latest;
  try {
    return { ...AT_FIRST, ...JSON.parse(localStorage.getItem(OPEN) ?? "{}") };
  } catch {
    return AT_FIRST; // storage may be forbidden, or hold something else
  }
}

function remember(states) {
  latest = states;
  try {
    localStorage.setItem(OPEN, JSON.stringify(states));
  } catch {
    // As above: the choice then holds for this page only.
  }
}

/** Which sections are open, as remembered: `[states, set(name, open)]`. */
function useOpen() {
  const [states, setStates] = useState(remembered);
  const set = (name, open) =>
    setStates((old) => {
      if (Boolean(old[name]) === open) return old;
      const next = { ...old, [name]: open };
      remember(next);
      return next;
    });
  return [states, set];
}

function Section({ name, title, aside, open, children }) {
  const [states, set] = open;
  return html`
    <details class="pane pane-${name}" open=${Boolean(states[name])} onToggle=${(event) => set(name, event.target.open)}>
      <summary>${title}${aside !== undefined && html` <span class="aside">${aside}</span>`}</summary>
      ${states[name] && html`<div class="pane-body">${children}</div>`}
    </details>
  `;
}

function Facts({ facts }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`
    <dl class="facts">
      ${known.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
  `;
}

// -- the turn -------------------------------------------------------------------------------------

const ERRORS = {
  parse: "No action could be read in the text",
  name: "There is no such action",
  argument: "The action's arguments cannot be right",
  runtime: "The action could not be done",
};

function Feedback({ turn }) {
  if (!turn.error && !turn.feedback) return null;
  return html`
    <p class="feedback ${turn.error ? "bad" : ""}">
      ${turn.error && html`<span class="badge bad" title=${ERRORS[turn.error] ?? ""}>${turn.error}</span>`}
      ${turn.feedback || ERRORS[turn.error] || "The action failed"}
    </p>
  `;
}

function Said({ turn, tokens, coloured, setColoured }) {
  const text = html`<pre class="said-text">${turn.text || "(nothing)"}</pre>`;
  return html`
    ${turn.caption && html`<p class="caption">${turn.caption}</p>`}
    ${turn.tokens && coloured && tokens.data ? html`<${TokenOutput} data=${tokens.data} />` : text}
    ${coloured && tokens.error && html`<p class="notice bad" role="alert">Tokens: ${tokens.error.message} <button type="button" onClick=${tokens.retry}>Try again</button></p>`}
    ${turn.tokens
      ? html`<label class="check"><input type="checkbox" checked=${coloured} onChange=${(event) => setColoured(event.target.checked)} />Token by token</label>`
      : html`<p class="faint">${isStatic() ? "Its tokens are not part of this page." : "This turn's tokens were not recorded."}</p>`}
  `;
}

function Times({ times }) {
  const entries = Object.entries(times);
  const most = Math.max(...entries.map(([, seconds]) => seconds), 1e-9);
  return html`
    <table class="times">
      <caption class="unseen">Seconds by phase</caption>
      <tbody>
        ${entries.map(([name, seconds]) => html`
          <tr key=${name}>
            <th scope="row">${name}</th>
            <td class="time-bar"><span aria-hidden="true" style=${{ width: `${(100 * seconds) / most}%` }}></span></td>
            <td class="num">${seconds < 0.0995 ? `${(1000 * seconds).toFixed(1)} ms` : clock(seconds)}</td>
          </tr>
        `)}
      </tbody>
    </table>
  `;
}

function sum(times) {
  return Object.values(times).reduce((all, seconds) => all + seconds, 0);
}

function TurnPart({ run, episode, turn, open }) {
  const [states, set] = open;
  const wanted = turn.tokens && ((states.said && states.tokens) || states.input);
  const path = `/api/runs/${encodeURIComponent(run)}/episodes/${encodeURIComponent(episode.id)}/turns/${turn.number}/tokens`;
  const tokens = useTokens(wanted ? path : null);
  const times = turn.times ?? {};
  return html`
    <${Feedback} turn=${turn} />
    <${Section} name="said" title="What the model said" open=${open} aside=${turn.truncated ? "cut at the limit of tokens" : undefined}>
      <${Said} turn=${turn} tokens=${tokens} coloured=${Boolean(states.tokens)} setColoured=${(value) => set("tokens", value)} />
    <//>
    ${turn.tokens && html`
      <${Section} name="input" title="Exact model input" open=${open}>
        <${TokensShown} of=${tokens}>${(data) => html`<${TokenInput} run=${run} data=${data} />`}<//>
      <//>
    `}
    ${turn.elements_text && html`
      <${Section} name="elements" title="Elements as text" open=${open} aside=${turn.elements.length || undefined}>
        <pre class="said-text" tabindex="0">${turn.elements_text}</pre>
      <//>
    `}
    ${Object.keys(times).length > 0 && html`
      <${Section} name="times" title="Times by phase" open=${open} aside=${clock(sum(times))}><${Times} times=${times} /><//>
    `}
    <${Section} name="versions" title="Sampling" open=${open} aside=${`policy version ${number(turn.version)}`}>
      <${Facts} facts=${[
        ["Policy version", number(turn.version)],
        ["Temperature", number(turn.temperature)],
        ["Cut at the limit of tokens", turn.truncated ? "yes" : "no"],
        ["Reward of this turn", number(turn.reward)],
      ]} />
    <//>
  `;
}

/** Why an episode ended, in words. */
export function ending(episode) {
  if (episode.failure) return `The environment failed: ${episode.failure}`;
  if (episode.truncated) return `Cut at the limit of turns${episode.max_turns ? ` (${episode.max_turns})` : ""}.`;
  return episode.terminated ? "Ended by itself." : "It is not recorded how it ended.";
}

// -- the episode ----------------------------------------------------------------------------------

function JudgeSays({ judge }) {
  return html`
    <p class="judge">
      <span>The judge says</span>
      <span class="verdict ${judge.success ? "success" : "failure"}">${judge.success ? "success" : "failure"}</span>
      <span class="num">score ${number(judge.score)}</span>
      ${judge.notes && html`<q>${judge.notes}</q>`}
    </p>
  `;
}

function VerdictPart({ run, episode, overriding, setOverriding, onOverride }) {
  const [latest, setLatest] = useState(null);
  useEffect(() => setLatest(null), [episode.id, episode.overrides]);
  const overrides = latest ?? episode.overrides ?? [];
  const done = (given) => {
    setLatest(given);
    setOverriding(false);
    onOverride?.();
  };
  return html`
    <${JudgeSays} judge=${episode.judge} />
    <${Overrides} overrides=${overrides} />
    ${overriding && html`<${OverrideForm} key=${episode.id} run=${run} episode=${episode} onDone=${done} onClose=${() => setOverriding(false)} />`}
    ${!overriding && canOverride(episode) && html`<button type="button" onClick=${() => setOverriding(true)}>Override… <kbd>o</kbd></button>`}
  `;
}

function Terms({ episode }) {
  const terms = episode.terms ?? [];
  return html`
    <table class="terms">
      <caption class="unseen">Terms of the reward</caption>
      <tbody>
        ${terms.map(({ name, value, weight }) => html`
          <tr key=${name}><th scope="row">${name}${weight !== undefined && weight !== 1 && html` <span class="faint">weight ${number(weight)}</span>`}</th><td class="num">${number(value)}</td></tr>
        `)}
        <tr class="sum"><th scope="row">reward</th><td class="num">${number(episode.reward)}</td></tr>
        <tr><th scope="row">advantage</th><td class="num">${number(episode.advantage)}</td></tr>
      </tbody>
    </table>
  `;
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function EpisodePart({ run, episode, open, ...rest }) {
  const params = Object.entries(episode.params ?? {});
  return html`
    <${Section} name="verdict" title="Verdict" open=${open}>
      <${VerdictPart} run=${run} episode=${episode} ...${rest} />
    <//>
    <${Section} name="reward" title="Reward" open=${open} aside=${number(episode.reward)}><${Terms} episode=${episode} /><//>
    <${Section} name="facts" title="Episode" open=${open} aside=${purpose(episode)}>
      <${Facts} facts=${[
        ["Id", html`<code>${episode.id}</code>`], ["Name in its file", episode.episode === undefined ? "" : String(episode.episode)],
        ["Task", episode.task], ["Suite", episode.suite], ["Seed", String(episode.seed)],
        ["Split", episode.split], ["Played for", purpose(episode)],
        ["Turns", `${episode.turns.length}${episode.max_turns ? ` of at most ${episode.max_turns}` : ""}`],
        ["Lasted", clock(episode.seconds)], ["Started", when(episode.started)],
        ["Policy version", number(episode.version)], ["Dialect", episode.dialect],
        ["A guesser would reach", episode.blind_rate === null ? "" : percent(episode.blind_rate)],
      ]} />
    <//>
    ${params.length > 0 && html`
      <${Section} name="params" title="Parameters of the task" open=${open} aside=${params.length}>
        <${Facts} facts=${params.map(([name, value]) => [name, html`<code>${shown(value)}</code>`])} />
      <//>
    `}
  `;
}

function Head({ episode }) {
  return html`
    <div class="goal">
      <p class="goal-text">${episode.goal}</p>
      <p class="goal-line">
        <${Outcome} of=${episode} /> <${Whats} whats=${episode.whats} />
        ${episode.notes && html`<span class="notes" title="The judge's notes">${episode.notes}</span>`}
      </p>
    </div>
  `;
}

/** The right column, for position `at`: that of a turn, or one more for the final picture. */
export function Details({ run, episode, at, ...rest }) {
  const turn = episode.turns[at] ?? null;
  const { overriding } = rest;
  const open = useOpen();
  const [, set] = open;
  useEffect(() => {
    if (overriding) set("verdict", true);
  }, [overriding]);
  return html`
    <${Head} episode=${episode} />
    <section class="turn-part" aria-label="This turn">
      <h2>${turn ? `Turn ${at + 1}` : "The end"} <span class="aside">${turn ? actionLine(turn) : ending(episode)}</span></h2>
      ${turn && html`<${TurnPart} run=${run} episode=${episode} turn=${turn} open=${open} />`}
    </section>
    <section class="episode-part" aria-label="The episode">
      <h2>Episode</h2>
      <${EpisodePart} run=${run} episode=${episode} open=${open} ...${rest} />
    </section>
  `;
}
