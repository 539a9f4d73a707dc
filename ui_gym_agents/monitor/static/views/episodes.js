// The episodes of a run, chosen by filters that the URL holds.

import { html } from "../vendor/htm-preact.js";
import { fileUrl, isStatic, useData } from "../api.js";
import { EpisodeTable } from "../episodes.js";
import { KIND_OPTIONS, WHATS } from "../format.js";
import { Crumbs, Field, RunTabs, Select } from "../parts.js";
import { link, setParams } from "../router.js";

const FILTERS = [
  "kind", "step", "mode", "task", "suite", "seed", "group", "what", "won", "notes", "failure", "q",
];

const ORDERS = [
  ["", "newest first"],
  ["old", "oldest first"],
  ["worst", "lowest score first"],
  ["best", "highest score first"],
  ["long", "most turns first"],
];

/** The part of a page's params that choose episodes. */
export function filtersOf(params) {
  const known = [...FILTERS, "order"].filter((name) => params[name]);
  return Object.fromEntries(known.map((name) => [name, params[name]]));
}

const change = (name) => (value) => setParams({ [name]: value }, { replace: true });

// A task that a link has named, but that the run does not list, is still a choice.
function taskOptions(tasks, chosen) {
  const all = [...new Set([...tasks, chosen].filter(Boolean))].sort();
  return [["", "any task"], ...all];
}

export function FilterBar({ run, params, tasks, order = true }) {
  const { kind, mode, what, won, step, task, q } = params;
  const whats = Object.entries(WHATS).map(([name, [text]]) => [name, text]);
  const active = FILTERS.filter((name) => params[name]);
  const others = ["suite", "seed", "group"].filter((name) => params[name]);
  const clear = () => setParams(Object.fromEntries(active.map((name) => [name, ""])));
  return html`
    <div class="bar" role="search" aria-label="Filters">
      <${Field} label="Search" hidden hint="Search goal, notes, words" value=${q}
        onChange=${change("q")} />
      <${Select} label="Played for" hidden value=${kind}
        options=${[["", "any purpose"], ...KIND_OPTIONS]} onChange=${change("kind")} />
      <${Field} label="Step" hidden type="number" hint="step" value=${step}
        onChange=${change("step")} />
      <${Select} label="Mode" hidden value=${mode}
        options=${[["", "any mode"], "greedy", "sampled"]} onChange=${change("mode")} />
      <${Select} label="Task" hidden value=${task} options=${taskOptions(tasks, task)}
        onChange=${change("task")} />
      <${Select} label="Outcome" hidden value=${won}
        options=${[["", "any outcome"], ["1", "success"], ["0", "failure"]]}
          onChange=${change("won")} />
      <${Select} label="What went wrong" hidden value=${what}
        options=${[["", "any problem"], ...whats]} onChange=${change("what")} />
      ${order && html`<${Select} label="Order" hidden value=${params.order} options=${ORDERS}
        onChange=${change("order")} />`}
      ${others.map((name) => html`
        <button key=${name} type="button" class="chip" aria-label="Take the filter ${name} away"
          onClick=${() => change(name)("")}>
          ${name}: <span class="mono">${params[name]}</span> ✕
        </button>
      `)}
      ${active.length > 0 && html`<button type="button" class="quiet" onClick=${clear}>
        Clear</button>`}
      ${!isStatic() && html`
        <a class="end" href=${fileUrl(`/api/runs/${run}/episodes.zip`, filtersOf(params))}
          title="These episodes and their pictures, as a ZIP file" download>Download</a>`}
    </div>
  `;
}

/** The head that a run's pages share: the way here and the tabs. */
export function RunHead({ run, name, active, title }) {
  const items = [
    { text: "Runs", href: "#/" },
    { text: name ?? run, href: link(["run", run]) },
    { text: title },
  ];
  return html`
    <${Crumbs} items=${items} />
    <h1 class="unseen">${title} of ${name ?? run}</h1>
    <${RunTabs} run=${run} active=${active} />
  `;
}

export function Episodes({ route }) {
  const { run, params } = route;
  const { data } = useData(`/api/runs/${run}`, {}); // its name and tasks
  return html`
    <${RunHead} run=${run} name=${data?.name} active="episodes" title="Episodes" />
    <${FilterBar} run=${run} params=${params} tasks=${data?.tasks ?? []} />
    <${EpisodeTable} run=${run} filters=${filtersOf(params)} />
  `;
}
