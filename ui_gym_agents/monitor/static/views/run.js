// One run: how it goes, how it came there, and what it is.

import { html, useState } from "../vendor/htm-preact.js";
import { fileUrl, isStatic, post, useData } from "../api.js";
import { ago, number, percent, purpose, rate, when, WHATS } from "../format.js";
import { Crumbs, Dialog, Pill, RateBar, RunTabs, Shown } from "../parts.js";
import { link } from "../router.js";
import { RunCharts } from "./run_charts.js";
import { Facts, Settings } from "./run_settings.js";
import { HeatMap, RateTable } from "./run_tables.js";

// -- headline -------------------------------------------------------------------------------------

function Figure({ name, children, under }) {
  return html`
    <div class="figure">
      <dt>${name}</dt>
      <dd>${children}</dd>
      ${under && html`<dd class="under">${under}</dd>`}
    </div>
  `;
}

const interval = (value) =>
  value?.n ? `${percent(value.low, 0)} to ${percent(value.high, 0)}, n ${value.n}` : "";

const NEWEST = {
  score: ["score", number],
  entropy: ["entropy", number],
  valid_actions: ["valid actions", percent],
};

function Headline({ run }) {
  const { before, now, step, steps, newest } = run;
  const figures = Object.entries(NEWEST).filter(([name]) => typeof newest?.[name] === "number");
  return html`
    <dl class="figures">
      <${Figure} name="before training" under=${interval(before)}><${RateBar} rate=${before} /><//>
      <${Figure} name="now" under=${interval(now)}><${RateBar} rate=${now} /><//>
      <${Figure} name="step">${step}${steps ? html`
        <span class="faint"> of ${steps}</span>` : ""}<//>
      <${Figure} name="episodes"
        under=${run.per_hour === null ? "" : `${number(Math.round(run.per_hour))} per hour`}>
          ${number(run.episodes)}<//>
      ${figures.map(([name, [text, show]]) => html`
        <${Figure} key=${name} name=${text} under="step ${newest.step}">${show(newest[name])}<//>`)}
    </dl>
  `;
}

// -- control --------------------------------------------------------------------------------------

const CONTROLS = {
  evaluate: ["Evaluate", "Measure the policy after the step that is at work?"],
  save: ["Save", "Write a checkpoint after the step that is at work?"],
  stop: ["Stop", "Stop the run after the step that is at work? It can be resumed."],
};

function Control({ run }) {
  const [what, setWhat] = useState(null);
  const [told, setTold] = useState("");
  const send = async () => {
    try {
      await post(`/api/runs/${run}/control`, { what });
      setTold(`Asked for: ${CONTROLS[what][0].toLowerCase()}. It is done after this step.`);
    } catch (error) {
      setTold(error.message);
    }
    setWhat(null);
  };
  const actions = html`
    <button type="button" onClick=${() => setWhat(null)}>Cancel</button>
    <button type="button" class=${what === "stop" ? "danger" : "primary"} onClick=${send}>
      ${CONTROLS[what]?.[0]}</button>
  `;
  return html`
    <span class="controls">
      ${Object.entries(CONTROLS).map(([name, [text]]) => html`
        <button key=${name} type="button" onClick=${() => setWhat(name)}>${text}</button>`)}
      <span class="faint" role="status">${told}</span>
    </span>
    <${Dialog} open=${what !== null} title=${CONTROLS[what]?.[0] ?? ""}
      onClose=${() => setWhat(null)} actions=${actions}>
      <p>${CONTROLS[what]?.[1]}</p>
    <//>
  `;
}

function Head({ run }) {
  const live = run.status === "running" && !isStatic();
  const begun = run.started && `begun ${when(run.started)}`;
  const words = [run.phase, run.plugin, run.tasks.slice(0, 3).join(", "), begun];
  return html`
    <div class="head">
      <h1>${run.name}</h1>
      <${Pill} status=${run.status} />
      ${live && html`<span class="faint">heartbeat ${ago(run.heartbeat)}</span>`}
      <span class="faint">
        ${words.filter(Boolean).join(" · ")}</span>
      ${live && run.control && html`<${Control} run=${run.id} />`}
    </div>
    ${run.error && html`<p class="notice bad"><strong>
      Ended with an error.</strong> ${run.error}</p>`}
    ${run.trouble && html`<p class="notice warn"><strong>
      Could not be read whole.</strong> ${run.trouble}</p>`}
  `;
}

// -- sections -------------------------------------------------------------------------------------

function Section({ title, count, children, open = true }) {
  return html`
    <details class="part" open=${open}>
      <summary><h2>${title}</h2>${count !== undefined && html` <span class="count">
        ${count}</span>`}</summary>
      ${children}
    </details>
  `;
}

const NEWEST_EVENTS = 300; // so many of the timeline are shown

function Timeline({ run, timeline }) {
  if (!timeline.length) return html`<p class="faint">Nothing has been noted yet.</p>`;
  return html`
    <ol class="timeline">
      ${timeline.slice(-NEWEST_EVENTS).reverse().map(({ at, kind, step, text }, place) => html`
        <li key=${`${at} ${kind} ${place}`} class=${kind}>
          <time datetime=${at} title=${at}>${when(at)}</time>
          <span class="kind">${kind}</span>
          <span>${step ? html`<a href=${link(["run", run, "groups"], { step })}>
            step ${step}</a> ` : ""}${text}</span>
        </li>
      `)}
    </ol>
  `;
}

function Measurements({ run, measurements }) {
  return html`
    <div class="scroll">
      <table aria-label="Evaluations">
        <thead><tr><th>evaluation</th><th>success</th><th class="wide">with its interval</th><th>
          against before</th></tr></thead>
        <tbody>
          ${measurements.map((one) => {
            const { kind, step, mode } = one;
            const baseline = (other) => other.kind === "baseline" && other.mode === mode;
            const first = kind !== "baseline" && measurements.find(baseline);
            const name = (of) => [run, of.kind, of.step, of.mode].join("/");
            const other = first && link(["compare"], { a: name(first), b: name(one) });
            const under = one.n === null || one.success === null ? "under way" : rate(one);
            return html`
              <tr key=${`${kind} ${step} ${mode}`}>
                <td><a href=${link(["run", run, "episodes"], { kind, step, mode })}>
                  ${purpose(one)}</a></td>
                <td><${RateBar} rate=${one} /></td>
                <td class="faint">
                  ${under}${one.planned && one.n !== one.planned ? ` of ${one.planned} planned` : ""}</td>
                <td>${other && html`<a href=${other}>compare</a>`}</td>
              </tr>
            `;
          })}
        </tbody>
      </table>
    </div>
  `;
}

function Wrongs({ run, whats }) {
  const counts = Object.entries(whats ?? {}).filter(([, n]) => n);
  counts.sort((one, other) => other[1] - one[1]);
  if (!counts.length) return null;
  return html`
    <p class="whats">
      ${counts.map(([what, n]) => html`
        <a key=${what} class="what ${what}" title=${WHATS[what]?.[1]}
          href=${link(["run", run, "episodes"], { what })}>
            ${WHATS[what]?.[0] ?? what} ${number(n)}</a>
      `)}
    </p>
  `;
}

function Exports({ run }) {
  if (isStatic()) return null;
  const file = (name) => fileUrl(`/api/runs/${run}/${name}`);
  return html`
    <p class="exports">
      <a href=${file("metrics.csv")} download>Metrics (CSV)</a>
      <a href=${file("episodes.zip")} download>Episodes (ZIP)</a>
      <a href=${file("page.html")} download>This run as one page (HTML)</a>
    </p>
  `;
}

function Body({ run }) {
  const { id, measurements = [], timeline = [], by_task = [], by_suite = [], heat } = run;
  const suites = by_suite.length > 1;
  return html`
    <${Head} run=${run} />
    <${RunTabs} run=${id} active="run" />
    <${Headline} run=${run} />
    <${Wrongs} run=${id} whats=${run.whats} />
    <${RunCharts} run=${id} timeline=${timeline} measurements=${measurements}
      live=${run.status === "running"} />
    <div class="columns">
      <div>
        ${measurements.length > 0 && html`<${Section} title="Evaluations"
          count=${measurements.length}><${Measurements} run=${id} measurements=${measurements}
            /><//>`}
        ${suites && html`<${Section} title="By suite, last steps of training"
          count=${by_suite.length}><${RateTable} run=${id} rows=${by_suite} by="suite"
            label="Success by suite" /><//>`}
        ${by_task.length > 0 && html`<${Section} title="By task, last steps of training"
          count=${by_task.length}><${RateTable} run=${id} rows=${by_task} by="task"
            label="Success by task" /><//>`}
        ${heat?.rows.length > 0 && html`<${Section} title="By task over training"
          count=${heat.rows.length}><${HeatMap} run=${id} heat=${heat} /><//>`}
      </div>
      <div>
        <${Section} title="What happened"><${Timeline} run=${id} timeline=${timeline} /><//>
        <${Section} title="Settings"><${Settings} config=${run.config} /><//>
        <${Section} title="Where and with what">
          <${Facts} facts=${run.facts} place=${run.place} /><//>
        <${Exports} run=${id} />
      </div>
    </div>
  `;
}

export function Run({ route }) {
  const answer = useData(`/api/runs/${route.run}`, {}, { run: route.run, every: 15 });
  const name = answer.data?.name ?? "run";
  return html`
    <${Crumbs} items=${[{ text: "Runs", href: "#/" }, { text: name }]} />
    <${Shown} of=${answer}>${(run) => html`<${Body} run=${run} />`}<//>
  `;
}
