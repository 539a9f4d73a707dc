// The groups of training: episodes on the same instance, whose rewards are compared.

import { html, useRef } from "../vendor/htm-preact.js";
import { useData } from "../api.js";
import { More, usePages } from "../episodes.js";
import { number } from "../format.js";
import { Empty, Failed, Field, Loading, useKeys, useRows } from "../parts.js";
import { link, setParams } from "../router.js";
import { RunHead } from "./episodes.js";

const toStep = (step) => setParams({ step: step > 0 ? step : "" }, { replace: true });

function Dots({ n, successes }) {
  const dots = Array.from({ length: Math.min(n, 64) }, (_, at) => (at < successes ? "won" : "lost"));
  return html`
    <span class="dots" role="img" aria-label="${successes} of ${n} with success">
      ${dots.map((kind, at) => html`<i key=${at} class=${kind}></i>`)}
    </span>
  `;
}

function Row({ run, group }) {
  const { task, seed, goal, n, successes, mean_reward, equal, step } = group;
  return html`
    <tr>
      <td class="main">
        <a class="row" href=${link(["run", run, "group", group.group], { step })}>
          ${goal || task}</a>
        <span class="under"><span class="mono">${task}</span> · seed <span class="mono">
          ${seed}</span></span>
      </td>
      <td class="num" data-name="step"><a href=${link(["run", run, "groups"], { step })}>
        ${step}</a></td>
      <td><${Dots} n=${n} successes=${successes} /></td>
      <td class="num" data-name="success">${successes}/${n}</td>
      <td class="num" data-name="mean reward">${number(mean_reward)}</td>
      <td>${equal && html`
        <span class="flag" title="All rewards are the same: nothing is learned from this group">
          no difference</span>`}</td>
    </tr>
  `;
}

function Bar({ step, newest }) {
  const here = Number(step) || newest || 0;
  useKeys({
    "[": [() => toStep(here - 1), "The step before"],
    "]": [() => toStep(here + 1), "The step after"],
  });
  return html`
    <div class="bar">
      <button type="button" aria-label="The step before ([)" title="The step before ([)"
        disabled=${here <= 1} onClick=${() => toStep(here - 1)}>←</button>
      <${Field} label="Step" type="number" hint=${String(newest ?? "")} value=${step}
        onChange=${(value) => setParams({ step: value }, { replace: true })} />
      <button type="button" aria-label="The step after (])" title="The step after (])"
        onClick=${() => toStep(here + 1)}>→</button>
      ${step && html`<button type="button" class="quiet" onClick=${() => toStep(0)}>
        Newest</button>`}
    </div>
  `;
}

function List({ run, step }) {
  const ref = useRef(null);
  const path = `/api/runs/${run}/groups`;
  const nameOf = (one) => `${one.step} ${one.group}`;
  const list = usePages({ run, path, params: { step }, name: "groups", nameOf });
  useRows(ref, "a.row");
  const { rows, error, next, loading } = list;
  if (!rows) {
    if (error) return html`<${Failed} error=${error} retry=${list.reload} />`;
    return html`<${Loading} text="Loading groups…" />`;
  }
  if (!rows.length) {
    const hint = "Groups come from training with several episodes on one instance, as GRPO plays them.";
    return html`<${Empty} title=${step ? `No group of step ${step}` : "No groups"} hint=${hint} />`;
  }
  const equal = rows.filter((row) => row.equal).length;
  return html`
    <div ref=${ref}>
      <p class="faint count-line" aria-live="polite">
        ${rows.length}${next ? " or more" : ""} group${rows.length === 1 ? "" : "s"}; without a
        difference in reward: ${equal}
      </p>
      <div class="scroll">
        <table class="fold" aria-label="Groups">
          <thead>
            <tr><th>goal</th><th class="num">step</th><th>episodes</th><th class="num">
              success</th><th class="num">mean reward</th><th>difference</th></tr>
          </thead>
          <tbody>${rows.map((group) => html`<${Row} key=${nameOf(group)} run=${run} group=${group}
            />`)}</tbody>
        </table>
      </div>
      ${next && html`<${More} loading=${loading} more=${list.more} />`}
    </div>
  `;
}

export function Groups({ route }) {
  const { run, params } = route;
  const { data } = useData(`/api/runs/${run}`, {});
  return html`
    <${RunHead} run=${run} name=${data?.name} active="groups" title="Groups" />
    <${Bar} step=${params.step ?? ""} newest=${data?.step} />
    <${List} run=${run} step=${params.step} />
  `;
}
