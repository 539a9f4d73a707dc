// What goes wrong: by kind, by task, by the judge's words; the environment's faults apart.

import { html, useRef } from "../vendor/htm-preact.js";
import { useData } from "../api.js";
import { number, percent, WHATS } from "../format.js";
import { Empty, Shown, useRows } from "../parts.js";
import { link } from "../router.js";
import { FilterBar, filtersOf, RunHead } from "./episodes.js";

/** A count with a bar for its part of `of`; the count opens its episodes. */
function Count({ n, of, href, kind = "" }) {
  const part = of ? n / of : 0;
  return html`
    <span class="share">
      <a class="row num" href=${href}>${number(n)}</a>
      <span class="bar ${kind}" aria-hidden="true">
        <span class="fill" style=${{ width: `${100 * part}%` }}></span></span>
      <span class="num faint">${percent(part, 0)}</span>
    </span>
  `;
}

function Section({ title, hint, children }) {
  return html`<section class="part"><h2>${title}</h2>${hint && html`<p class="faint">
    ${hint}</p>`}${children}</section>`;
}

function Kinds({ whats, n, to }) {
  const kinds = Object.keys(WHATS).filter((what) => what !== "fault" && whats[what]);
  if (!kinds.length) return html`<p class="faint">Nothing of a known kind.</p>`;
  kinds.sort((one, other) => whats[other] - whats[one]);
  return html`
    <div class="scroll">
      <table aria-label="Failures by kind">
        <tbody>
          ${kinds.map((what) => html`
            <tr key=${what}>
              <td><span class="what ${what}">${WHATS[what][0]}</span><span class="under">
                ${WHATS[what][1]}</span></td>
              <td><${Count} n=${whats[what]} of=${n} href=${to({ what })} /></td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function Tasks({ tasks, to }) {
  const any = (what) => what !== "fault" && tasks.some((task) => task.whats[what]);
  const kinds = Object.keys(WHATS).filter(any);
  return html`
    <div class="scroll">
      <table aria-label="Failures by task">
        <thead>
          <tr><th>task</th><th>failures of its episodes</th>${kinds.map((what) => html`
            <th key=${what} class="num" title=${WHATS[what][1]}>${WHATS[what][0]}</th>`)}</tr>
        </thead>
        <tbody>
          ${tasks.map(({ task, n, fails, whats }) => html`
            <tr key=${task}>
              <td class="mono"><a href=${to({ task })}>${task}</a></td>
              <td><${Count} n=${fails} of=${n} href=${to({ task, won: 0 })} /></td>
              ${kinds.map((what) => html`
                <td key=${what} class="num">${whats[what] ? html`<a href=${to({ task, what })}>
                  ${number(whats[what])}</a>` : html`<span class="faint">·</span>`}</td>
              `)}
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function Notes({ notes, to }) {
  return html`
    <div class="scroll">
      <table aria-label="Failures by the judge's words">
        <thead><tr><th class="num">episodes</th><th class="wide">what the judge said</th><th>
          task</th></tr></thead>
        <tbody>
          ${notes.map(({ notes: said, n, task }) => html`
            <tr key=${`${task} ${said}`}>
              <td class="num"><a class="row" href=${to({ notes: said, task })}>
                ${number(n)}</a></td>
              <td class="wide said">${said}</td>
              <td class="mono">${task}</td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function Faults({ faults, to }) {
  return html`
    <div class="scroll">
      <table aria-label="Faults of the environment">
        <thead><tr><th class="num">episodes</th><th class="wide">fault</th></tr></thead>
        <tbody>
          ${faults.map(({ failure, n }) => html`
            <tr key=${failure}>
              <td class="num"><a class="row" href=${to({ failure })}>${number(n)}</a></td>
              <td class="wide mono said">${failure}</td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

function Body({ data, to }) {
  const { whats, tasks, notes, faults, n } = data;
  if (!n) return html`<${Empty} title="No episodes"
    hint="Nothing was played yet, or the filters leave nothing." />`;
  return html`
    <p class="faint count-line" aria-live="polite">Of ${number(n)} episode${n === 1 ? "" : "s"}</p>
    <div class="columns">
      <div>
        <${Section} title="By kind"
          hint="Of episodes without success; several may hold for one.">
            <${Kinds} whats=${whats} n=${n} to=${to} /><//>
        <${Section} title="By task"><${Tasks} tasks=${tasks} to=${to} /><//>
      </div>
      <div>
        <${Section} title="By the judge's words">
          ${notes.length ? html`<${Notes} notes=${notes} to=${to} />` : html`<p class="faint">
            The judge said nothing.</p>`}
        <//>
        <${Section} title="The environment's faults"
          hint="Such an episode says nothing about the agent; rates leave it out.">
          ${faults.length ? html`<${Faults} faults=${faults} to=${to} />` : html`<p class="faint">
            None.</p>`}
        <//>
      </div>
    </div>
  `;
}

export function Failures({ route }) {
  const { run, params } = route;
  const ref = useRef(null);
  const facts = useData(`/api/runs/${run}`, {});
  const filters = filtersOf(params);
  const answer = useData(`/api/runs/${run}/failures`, filters, { run });
  useRows(ref, "a.row");
  const to = (more) => link(["run", run, "episodes"], { won: 0, ...filters, ...more });
  return html`
    <${RunHead} run=${run} name=${facts.data?.name} active="failures" title="Failures" />
    <${FilterBar} run=${run} params=${params} tasks=${facts.data?.tasks ?? []} order=${false} />
    <div ref=${ref}><${Shown} of=${answer}>${(data) => html`
      <${Body} data=${data} to=${to} />`}<//></div>
  `;
}
