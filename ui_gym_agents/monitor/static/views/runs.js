// All runs, with what matters of each at one glance.

import { html, useRef } from "../vendor/htm-preact.js";
import { isStatic, useData } from "../api.js";
import { ago, number, when } from "../format.js";
import { Empty, Field, Pill, RateBar, Select, Shown, useKeys, useRows } from "../parts.js";
import { go, link, setParams } from "../router.js";

const SOURCES = {
  run: "",
  evaluation: "evaluation",
  osworld: "OSWorld results",
  inspect: "Inspect log",
  database: "records",
};

const picked = (params) => (params.pick ? params.pick.split(",") : []);

// The third choice takes the place of the first.
function pick(params, run) {
  const old = picked(params);
  const next = old.includes(run) ? old.filter((one) => one !== run) : [...old, run].slice(-2);
  setParams({ pick: next.join(",") }, { replace: true });
}

const compare = (runs) => runs.length === 2 && go(["compare"], { a: runs[0], b: runs[1] });

function matches(run, { q = "", status = "" }) {
  if (status && run.status !== status) return false;
  const text = [run.name, run.place, run.plugin, ...run.tasks].join(" ").toLowerCase();
  return q.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function Tasks({ tasks }) {
  if (!tasks.length) return html`<span class="faint">–</span>`;
  const more = tasks.length > 2 ? ` +${tasks.length - 2}` : "";
  return html`<span class="mono" title=${tasks.join("\n")}>
    ${tasks.slice(0, 2).join(", ")}${more}</span>`;
}

function Progress({ step, steps }) {
  if (!steps) return html`<span class="num">${step || "–"}</span>`;
  const part = Math.min(100, (100 * step) / steps);
  return html`
    <span class="progress" title="step ${step} of ${steps}">
      <span class="num">${step}/${steps}</span>
      <span class="track" aria-hidden="true"><span style=${{ width: `${part}%` }}></span></span>
    </span>
  `;
}

function Success({ before, now }) {
  if (!before && !now) return html`<span class="faint">–</span>`;
  return html`
    <span class="change">
      <${RateBar} rate=${before} /> <span class="faint" aria-label="then">
        →</span> <${RateBar} rate=${now} />
    </span>
  `;
}

function Row({ run, params }) {
  const chosen = picked(params).includes(run.id);
  const plugin = run.plugin || SOURCES[run.source] || run.source;
  return html`
    <tr class=${chosen ? "chosen" : ""}>
      ${!isStatic() && html`
        <td class="check">
          <input type="checkbox" aria-label="Choose ${run.name} to compare" checked=${chosen}
            onChange=${() => pick(params, run.id)} />
        </td>
      `}
      <td class="main">
        <a class="row" href=${link(["run", run.id])}>${run.name}</a>
        <span class="under place" title=${run.place}>${run.place}</span>
      </td>
      <td>
        <${Pill} status=${run.status} />
        ${run.status === "running" && html`<span class="under">
          heartbeat ${ago(run.heartbeat)}</span>`}
        ${run.status === "lost" && run.heartbeat !== null && html`<span class="under">
          seen ${ago(run.heartbeat)}</span>`}
      </td>
      <td data-name="trainer">${plugin}</td>
      <td class="tasks"><${Tasks} tasks=${run.tasks} /></td>
      <td class="num" data-name="step"><${Progress} ...${run} /></td>
      <td class="wide"><${Success} ...${run} /></td>
      <td class="num" data-name="episodes">${number(run.episodes)}</td>
      <td class="num" data-name="per hour">
        ${run.per_hour === null ? "–" : number(Math.round(run.per_hour))}</td>
      <td class="when" data-name="started">${when(run.started)}</td>
      <td class="trouble wide">
        ${run.error && html`<span class="bad" title=${run.error}>${run.error}</span>`}
        ${run.trouble && html`<span class="warn" title=${run.trouble}>${run.trouble}</span>`}
      </td>
    </tr>
  `;
}

function Nothing({ folders }) {
  return html`
    <${Empty} title="No runs yet" hint="A run shows here as soon as its trainer has begun.">
      <p>Looked in ${folders.map((folder) => html`<code>${folder}</code> `)}</p>
      <pre>ui-gym-train grpo --run.directory runs/first</pre>
    <//>
  `;
}

function Bar({ runs, params, shown }) {
  const chosen = picked(params);
  const statuses = [...new Set(runs.map((run) => run.status))].sort();
  const hint = chosen.length === 2 ? "Compare the two (c)" : "Choose two runs to compare";
  return html`
    <div class="bar">
      <${Field} label="Search runs" hidden hint="Search name, task, trainer" value=${params.q}
        onChange=${(q) => setParams({ q }, { replace: true })} />
      <${Select} label="Status" hidden value=${params.status}
        options=${[["", "any status"], ...statuses]}
        onChange=${(status) => setParams({ status }, { replace: true })} />
      <span class="faint" aria-live="polite">
        ${shown} of ${runs.length} run${runs.length === 1 ? "" : "s"}</span>
      ${!isStatic() && html`
        <button type="button" class="primary end" disabled=${chosen.length !== 2} title=${hint}
          onClick=${() => compare(chosen)}>
          Compare${chosen.length ? ` (${chosen.length} of 2)` : ""}
        </button>
      `}
    </div>
  `;
}

// The row that has the focus is chosen or let go.
function pickFocused() {
  const box = document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]");
  box?.click();
}

function Table({ runs, params }) {
  const ref = useRef(null);
  useRows(ref, "a.row");
  useKeys({
    x: [pickFocused, "Choose this run to compare"],
    c: [() => compare(picked(params)), "Compare the two that are chosen"],
  });
  if (!runs.length) return html`<${Empty} title="No run matches" hint="Take a filter away." />`;
  return html`
    <div class="scroll" ref=${ref}>
      <table class="fold runs" aria-label="Runs">
        <thead>
          <tr>
            ${!isStatic() && html`<th><span class="unseen">Compare</span></th>`}
            <th>run</th><th>status</th><th>trainer</th><th>tasks</th><th class="num">step</th>
            <th>success, before → now</th><th class="num">episodes</th><th class="num">per hour</th>
            <th>started</th><th>trouble</th>
          </tr>
        </thead>
        <tbody>${runs.map((run) => html`<${Row} key=${run.id} run=${run} params=${params}
          />`)}</tbody>
      </table>
    </div>
  `;
}

export function Runs({ route }) {
  const { params } = route;
  const answer = useData("/api/runs", {}, { run: "*", every: 15 });
  const draw = ({ runs, folders }) => {
    if (!runs.length) return html`<${Nothing} folders=${folders} />`;
    const shown = runs.filter((run) => matches(run, params));
    return html`
      <${Bar} runs=${runs} params=${params} shown=${shown.length} />
      <${Table} runs=${shown} params=${params} />
    `;
  };
  return html`<h1 class="unseen">Runs</h1><${Shown} of=${answer}>${draw}<//>`;
}
