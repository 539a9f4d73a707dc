// One episode, played.

import { html } from "../vendor/htm-preact.js";
import { fileUrl, isStatic, useData } from "../api.js";
import { purpose } from "../format.js";
import { Crumbs, Empty, Failed, Loading } from "../parts.js";
import { Player } from "../player.js";
import { go, link, setParams } from "../router.js";

function Neighbour({ run, id, filters, text, label }) {
  if (!id) return html`<span class="neighbour faint" aria-hidden="true">${text}</span>`;
  return html`<a class="neighbour" href=${link(["run", run, "episode", id], filters)} title=${label}>${text}</a>`;
}

/** Where the episode stands: the way to it, its group, its task through training, neighbours. */
function Head({ run, name, episode, filters }) {
  const { task, seed, group, step } = episode;
  const crumbs = [
    { text: "Runs", href: "#/" },
    { text: name, href: link(["run", run]) },
    { text: "Episodes", href: link(["run", run, "episodes"], filters) },
    { text: `${task}, seed ${seed}` },
  ];
  const page = fileUrl(`/api/runs/${encodeURIComponent(run)}/page.html`, { episode: episode.id });
  return html`
    <div class="episode-head">
      <${Crumbs} items=${crumbs} />
      <span class="faint">${purpose(episode)}</span>
      <span class="episode-links">
        ${group && episode.kind === "step" && html`<a href=${link(["run", run, "group", group], { step })} title="All rollouts of this start, side by side">group</a>`}
        <a href=${link(["run", run, "through"], { task, seed })} title="The same start at other steps of training">through training</a>
        ${!isStatic() && html`<a href=${page} title="This episode as one file to pass on">share as a file</a>`}
        <${Neighbour} run=${run} id=${episode.prev} filters=${filters} text="↑ before" label="Episode before (k)" />
        <${Neighbour} run=${run} id=${episode.next} filters=${filters} text="↓ next" label="Next episode (j)" />
      </span>
    </div>
  `;
}

/** `#/run/ID/episode/EID?turn=3&filters`. */
export function EpisodePage({ route }) {
  const { run, id } = route;
  const { turn, ...filters } = route.params;
  const base = `/api/runs/${encodeURIComponent(run)}`;
  // Another episode replaces the old one only when it is there: no flicker from one to the next.
  const { data: episode, error, loading, reload } = useData(`${base}/episodes/${encodeURIComponent(id)}`, filters, { keep: true });
  const { data: about } = useData(base);
  if (error && (!episode || episode.id !== id)) return html`<${Failed} error=${error} retry=${reload} />`;
  if (!episode) return html`<${Loading} text="Loading the episode…" />`;
  // In place of this one: the way back leads to the list, however many were looked at.
  const to = (other) => (other ? () => go(["run", run, "episode", other], filters, { replace: true }) : null);
  const current = episode.id === id;
  return html`
    <${Head} run=${run} name=${about?.name ?? "Run"} episode=${episode} filters=${filters} />
    ${episode.turns.length === 0 && html`
      <${Empty} title="This episode has no turns" hint=${episode.failure ? `It failed before the first one: ${episode.failure}` : "It ended before the agent could act."} />
    `}
    <div class=${loading && !current ? "stale" : ""}>
      <${Player} run=${run} episode=${episode} turn=${current ? turn : undefined}
        onTurn=${(number) => current && setParams({ turn: number }, { replace: true })}
        onPrevious=${to(episode.prev)} onNext=${to(episode.next)} onOverride=${reload} />
    </div>
  `;
}
