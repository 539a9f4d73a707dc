// Who works for a run at this moment: processes, slots, the queue, and how old the policy is.

import { html } from "../vendor/htm-preact.js";
import { useData } from "../api.js";
import { bytes, clock, number, when } from "../format.js";
import { Empty, Shown } from "../parts.js";
import { RunHead } from "./episodes.js";

const known = (x) => x !== null && x !== undefined;

function Figure({ name, value, under }) {
  return html`<div class="figure"><dt>${name}</dt><dd>${known(value) ? number(value) : "–"}</dd>
    ${under && html`<dd class="under">${under}</dd>`}</div>`;
}

function staleness({ version, playing }) {
  if (!known(version) || !known(playing)) return null;
  return Math.max(0, version - playing);
}

function Numbers({ data }) {
  const { queue = {}, policy = {}, slots = [], processes = [] } = data;
  const busy = slots.filter((slot) => slot.episode || slot.task).length;
  const memory = processes.reduce((sum, { rss }) => sum + (rss ?? 0), 0);
  const old = staleness(policy);
  return html`
    <dl class="figures">
      <${Figure} name="slots at work" value=${busy} under="of ${slots.length}" />
      <${Figure} name="requests waiting" value=${queue.requests} />
      <${Figure} name="groups under way" value=${queue.groups} />
      <${Figure} name="policy version" value=${policy.version}
        under=${known(policy.playing) ? `playing with ${number(policy.playing)}` : ""} />
      <${Figure} name="updates behind" value=${old} under=${old === 0 ? "on policy" : ""} />
      <${Figure} name="memory" value=${memory ? bytes(memory) : null}
        under="what processes share counts for each" />
    </dl>
  `;
}

function Processes({ processes }) {
  return html`
    <div class="scroll">
      <table aria-label="Processes">
        <thead><tr><th>process</th><th>role</th><th>state</th><th class="num">memory</th>
          <th class="num">of a core</th></tr></thead>
        <tbody>
          ${processes.map(({ pid, role, rss, cpu, alive }) => html`
            <tr key=${pid}>
              <td class="mono">${pid}</td><td>${role}</td>
              <td><span class="pill ${alive ? "running" : "lost"}">
                ${alive ? "alive" : "gone"}</span></td>
              <td class="num">${bytes(rss)}</td><td class="num">
                ${known(cpu) ? `${number(Math.round(100 * cpu))} %` : "–"}</td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function Slots({ slots }) {
  return html`
    <div class="scroll">
      <table aria-label="Slots">
        <thead>
          <tr><th>slot</th><th>state</th><th>task</th><th>episode</th><th class="num">for</th>
            <th class="num">restarts</th><th>runner</th><th>node</th></tr>
        </thead>
        <tbody>
          ${slots.map(({ slot, state, task, episode, seconds, restarts, runner, node }) => html`
            <tr key=${slot}>
              <td class="mono">${slot}</td><td>${state}</td><td class="mono">${task || "–"}</td>
              <td class="mono">${known(episode) && episode !== "" ? episode : "–"}</td>
                <td class="num">${clock(seconds)}</td>
              <td class="num">${restarts ? html`<b class="warn">
                ${restarts}</b>` : known(restarts) ? restarts : "–"}</td>
              <td>${runner || "–"}</td><td class="mono">${node || "–"}</td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function cellText(value) {
  return known(value) && typeof value === "object" ? JSON.stringify(value) : number(value);
}

/** Nodes tell of themselves what they know: every field is a column. */
function Nodes({ nodes }) {
  const rows = nodes.map((node) => (typeof node === "object" ? node : { node }));
  const names = [...new Set(rows.flatMap(Object.keys))];
  return html`
    <div class="scroll">
      <table aria-label="Nodes">
        <thead><tr>${names.map((name) => html`<th key=${name}>${name}</th>`)}</tr></thead>
        <tbody>${rows.map((row, at) => html`<tr key=${at}>${names.map((name) => html`
          <td key=${name} class="mono">${cellText(row[name])}</td>`)}</tr>`)}</tbody>
      </table>
    </div>
  `;
}

function Section({ title, rows, children }) {
  if (!rows?.length) return null;
  return html`<section class="part"><h2>${title} <span class="count">${rows.length}</span></h2>
    ${children}</section>`;
}

function Body({ data }) {
  const { processes, slots, nodes, note, at } = data;
  const nothing = !processes?.length && !slots?.length && !nodes?.length;
  if (nothing)
    return html`<${Empty} title="Nothing is known of workers"
      hint=${note || "They are told of while a run is at work."} />`;
  return html`
    ${note && html`<p class="notice">${note}</p>`}
    <p class="faint count-line">As of <time datetime=${at}>${when(at)}</time></p>
    <${Numbers} data=${data} />
    <${Section} title="Processes" rows=${processes}><${Processes} processes=${processes} /><//>
    <${Section} title="Slots" rows=${slots}><${Slots} slots=${slots} /><//>
    <${Section} title="Nodes" rows=${nodes}><${Nodes} nodes=${nodes} /><//>
  `;
}

export function Workers({ route }) {
  const { run } = route;
  const facts = useData(`/api/runs/${run}`, {});
  const answer = useData(`/api/runs/${run}/workers`, {}, { run, every: 3 }); // its file tells no event
  return html`
    <${RunHead} run=${run} name=${facts.data?.name} active="workers" title="Workers" />
    <${Shown} of=${answer}>${(data) => html`<${Body} data=${data} />`}<//>
  `;
}
