// The page's beginning: chooses the view of the route, loads it, and catches what goes wrong in it.

import {
  Component,
  html,
  render,
  useEffect,
  useLayoutEffect,
  useState,
} from "./vendor/htm-preact.js";
import { Empty, Failed, Loading, restoreTheme, Shell } from "./parts.js";
import { useRoute } from "./router.js";

const VIEWS = {
  runs: () => import("./views/runs.js").then((found) => found.Runs),
  run: () => import("./views/run.js").then((found) => found.Run),
  episodes: () => import("./views/episodes.js").then((found) => found.Episodes),
  episode: () => import("./views/episode.js").then((found) => found.EpisodePage),
  groups: () => import("./views/groups.js").then((found) => found.Groups),
  group: () => import("./views/group.js").then((found) => found.Group),
  through: () => import("./views/through.js").then((found) => found.Through),
  failures: () => import("./views/failures.js").then((found) => found.Failures),
  compare: () => import("./views/compare.js").then((found) => found.Compare),
  workers: () => import("./views/workers.js").then((found) => found.Workers),
};

const loaded = {};

/** A fault in a view leaves the header and the other pages usable. */
class Boundary extends Component {
  constructor(props) {
    super(props);
    this.state = { error: null };
  }

  static getDerivedStateFromError(error) {
    return { error };
  }

  componentDidCatch(error) {
    console.error(error);
  }

  componentDidUpdate(before) {
    if (this.state.error && before.name !== this.props.name) this.setState({ error: null });
  }

  render({ children }, { error }) {
    if (!error) return children;
    return html`<${Failed} error=${error} retry=${() => this.setState({ error: null })} />`;
  }
}

/** The view of the route, once its module is there. */
function View({ route }) {
  const [state, setState] = useState({ name: null, error: null });
  const [attempt, setAttempt] = useState(0);
  const { view } = route;
  useEffect(() => {
    let over = false;
    if (!VIEWS[view] || loaded[view]) return undefined;
    VIEWS[view]().then(
      (found) => {
        loaded[view] = found;
        if (!over) setState({ name: view, error: null });
      },
      (error) => over || setState({ name: view, error }),
    );
    return () => {
      over = true;
    };
  }, [view, attempt]);
  if (!VIEWS[view])
    return html`<${Empty} title="There is no such page"><a href="#/">To the runs</a><//>`;
  if (loaded[view]) return html`<${loaded[view]} key=${`${view} ${route.run}`} route=${route} />`;
  if (state.name === view && state.error)
    return html`<${Failed} error=${state.error} retry=${() => setAttempt(attempt + 1)} />`;
  return html`<${Loading} />`;
}

/** Another page begins at its top, and tells screen readers that it is another. */
function useArrival({ view, run, id }) {
  useLayoutEffect(() => {
    scrollTo(0, 0);
    const name = view === "runs" ? "" : view;
    document.title = [id, name, "ui-gym monitor"].filter(Boolean).join(" · ");
  }, [view, run, id]);
}

function App() {
  const route = useRoute();
  useArrival(route);
  const name = `${route.view} ${route.run} ${route.id}`;
  return html`
    <${Shell} route=${route}>
      <${Boundary} name=${name}><${View} route=${route} /><//>
    <//>
  `;
}

restoreTheme();
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash is the route
  document.getElementById("main").focus();
});
render(html`<${App} />`, document.getElementById("app"));
