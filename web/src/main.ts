// The report page: reads its data, builds its parts and keeps them to one choice of task and method.
import './style.css';
import { loadReport, passage, type Method, type Report, type Task, type Told } from './data';
import { byId, h, replace, type Child } from './dom';
import { figureElement, showMethods } from './figures';
import { counted, number, percent } from './format';
import { gateIntro, gateResult, venueElements } from './gate';
import { Grid } from './grid';
import { Live } from './live/live';
import { Methods } from './methods';
import { tableElement } from './tables';
import { tabs } from './tabs';
import { TaskPanel } from './task';
import { installTheme, themeButton } from './theme';
import { installTip } from './tip';
import { Viewer } from './viewer';

const groups: [string, string, string][] = [
  ['tracks', 'Paths', 'Every track from above, from the side, and its speed along the path.'],
  ['passage', 'Gates passed', 'Training pairs and held-out pairs apart, with the paper beside.'],
  ['race', 'Flights of this run', ''],
  ['certificates', 'Certificates', 'What can be promised about a flight before it is flown.'],
  ['sampling', 'Sampling', 'What fewer steps cost, and how much composing differs from joint inference.'],
  ['gate', 'One gate by camera', ''],
  ['overview', 'Overview', ''],
];

/** A page may be about the single gate alone. */
const hasRace = (report: Report): boolean => !report.gate || report.tasks.length > 0;

/** Whether the page can plan and fly by itself. */
const canLive = (report: Report): boolean => report.live !== null && typeof WebAssembly === 'object' && report.tasks.length > 0;

/** What composition did on the pairs that no training saw, in numbers of the data. */
function lead(report: Report): Child[] {
  if (report.gate && !hasRace(report)) return [h('p', {}, gateIntro), gateResult(report.gate)];
  const feasible = report.tasks.filter((task) => task.feasible);
  const heldOut = feasible.filter((task) => task.heldOut);
  const main = report.methods.find((method) => method.id === report.mainMethod && method.id !== 'expert');
  const learned = feasible.filter((task) => !task.heldOut && main && task.flights.has(main.id));
  const split = heldOut.length
    ? `${counted(heldOut.length, 'more pair')} ${heldOut.length === 1 ? 'was' : 'were'} held out: training never showed that track with that opening.`
    : 'None was held out.';
  const intro =
    `A task is a pair: one of ${counted(report.tracks.length, 'track')} with one of ` +
    `${counted(report.openings.length, 'gate opening')}.` +
    (main ? ` ${main.short} learned from ${counted(learned.length, 'pair')}. ${split}` : '');
  const sum = main && passage(report.tasks, main.id, (task) => task.heldOut);
  if (!main || !sum) {
    return [h('p', {}, intro), h('p', { class: 'result' }, 'The results hold no flights of a policy on held-out pairs.')];
  }
  return [
    h('p', {}, intro),
    h('p', { class: 'result' },
      'Composition on the held-out pairs: ',
      h('strong', {}, main.short), ' passed ',
      h('strong', {}, `${sum.passed} of ${sum.gates} gates`),
      ` (${percent(sum.passed, sum.gates)}) and every gate of ${sum.whole} of the ${counted(sum.tasks, 'pair')}. `,
      comparison(report, main)),
  ];
}

/** The others on the same pairs: those that a newcomer compares with first. */
function comparison(report: Report, main: Method): string {
  const parts = ['baseline', 'knet', 'oracle', 'expert'].flatMap((id) => {
    const method = report.methods.find((entry) => entry.id === id && id !== main.id);
    const sum = method && passage(report.tasks, id, (task) => task.heldOut);
    return method && sum ? [`${method.short} ${sum.passed} of ${sum.gates}`] : [];
  });
  const gates = passage(report.tasks, main.id, (task) => task.heldOut)?.gates;
  return (parts.length ? `For comparison: ${parts.join(', ')}.` : '') + beingTold(report.told, gates);
}

/** What networks pass that are only told their task, when that is of as many gates. */
function beingTold(told: Told | null, gates: number | undefined): string {
  if (!told || told.gates !== gates) return '';
  const mean = (of: { passed: number; trainings: number }) =>
    `${number(of.passed, 1)} (${counted(of.trainings, 'training')})`;
  return ` A network that is only told its task, with nothing to compose, passes ${mean(told)}` +
    (told.longer ? `; trained with as many operations as ours, ${mean(told.longer)}` : '') + '.';
}

function notices(report: Report): Child {
  const lines = [
    ...report.sources.filter((source) => source.state === 'missing').map((source) => source.note || `${source.name}: missing.`),
    ...report.messages,
    ...report.problems,
  ];
  if (lines.length === 0) return null;
  return h('details', { class: 'panel notices', id: 'notices' },
    h('summary', {}, `${counted(lines.length, 'remark')} about the data`),
    h('ul', {}, ...lines.map((line) => h('li', {}, line))));
}

function sections(report: Report): { elements: HTMLElement[]; links: HTMLElement[] } {
  const known = new Set(groups.map(([id]) => id));
  const all = [...groups];
  for (const { group } of [...report.figures, ...report.tables]) {
    if (!known.has(group)) all.push([group, group || 'More', '']), known.add(group);
  }
  const elements: HTMLElement[] = [];
  const links: HTMLElement[] = [];
  all.forEach(([id, title, about], i) => {
    const venues = id === 'gate' && report.gate ? venueElements(report) : { elements: [], figures: new Set<string>() };
    const figures = report.figures.filter((figure) => figure.group === id && !venues.figures.has(figure.id));
    const tables = report.tables.filter((table) => table.group === id);
    if (figures.length + tables.length + venues.elements.length === 0) return;
    const anchor = `part-${i}`;
    links.push(h('a', { href: `#${anchor}` }, title));
    elements.push(h('section', { class: 'part', id: anchor, 'aria-label': title },
      h('h2', {}, title), about && h('p', { class: 'note' }, about),
      ...venues.elements, ...figures.map(figureElement), ...tables.map(tableElement)));
  });
  return { elements, links };
}

function build(report: Report): void {
  const main = byId('main');
  const parts = sections(report);
  replace(byId('top'),
    h('div', { class: 'bar' },
      h('h1', {}, 'Facet'),
      h('nav', { 'aria-label': 'Parts of this page' },
        hasRace(report) && h('a', { href: '#flights' }, 'Flights'),
        canLive(report) && h('a', { href: '#live' }, 'Live'), ...parts.links),
      themeButton()),
    h('div', { class: 'lead' }, ...lead(report)));
  replace(byId('foot'),
    h('p', {}, ['Written by ', report.command || 'facet report', report.version && `, version ${report.version}`].filter(Boolean).join(''),
      '. Everything is in this file; it loads nothing.'),
    h('ul', {}, ...report.sources.map((source) => h('li', {}, `${source.name || source.id}: ${source.note || source.state}`))));

  let task = firstTask(report);
  let method = report.mainMethod;
  const visible = new Set(report.methods.filter((entry) => entry.shown).map((entry) => entry.id));
  if (method) visible.add(method);

  if (task) {
    const viewer = new Viewer(report);
    const panel = new TaskPanel(report);
    const refresh = (): void => {
      if (!task) return;
      grid.show(task, method);
      methods.show(method, visible);
      viewer.show(task, method, visible);
      panel.show(task, method);
      showMethods(main, visible);
    };
    const grid = new Grid(report, (chosen) => {
      task = chosen;
      refresh();
    });
    const methods = new Methods(report,
      (chosen) => {
        method = chosen;
        visible.add(chosen);
        refresh();
      },
      (id, on) => {
        if (on) visible.add(id);
        else visible.delete(id);
        refresh();
      });
    const flights = h('section', { class: 'flights', id: 'flights', 'aria-label': 'Flights' },
      h('div', { class: 'choose panel' },
        grid.element,
        h('p', { class: 'hint' },
          report.tasks.some((task) => task.heldOut) && h('span', {}, h('span', { class: 'tag' }, 'held out'), ' never trained on. '),
          'Number and marks: gates passed by the chosen method. Bars: all methods, in the order below.'),
        report.methods.length ? methods.element : h('p', { class: 'missing' }, 'The results hold no methods.')),
      viewer.element);
    const recorded = [flights, panel.element];
    const live = canLive(report) && report.live ? new Live(report, report.live) : null;
    const choice = live && tabs('Flights', [
      { id: 'flights', title: 'Flights of this run', elements: recorded, opened: () => undefined },
      { id: 'live', title: 'Live: plan and fly in this page', elements: [live.element], opened: () => live.open() },
    ]);
    replace(main, choice, ...recorded, live?.element, notices(report), ...parts.elements);
    refresh();
  } else {
    const none = h('p', { class: 'notice' }, 'The results hold no tasks, so there are no flights to show.');
    if (hasRace(report)) replace(main, none, notices(report), ...parts.elements);
    else replace(main, ...parts.elements, notices(report));
  }
}

/** The first screen shows the held-out pair on which the main method is furthest ahead of the other
 * policies; of equal ones the longest. */
function firstTask(report: Report): Task | null {
  const share = (task: Task, method: string): number | null => {
    const flight = task.flights.get(method);
    return flight && flight.passed !== null && flight.gates ? flight.passed / flight.gates : null;
  };
  const lead = (task: Task): number => {
    const others = report.methods
      .filter((method) => method.id !== report.mainMethod && method.id !== 'expert')
      .flatMap((method) => share(task, method.id) ?? []);
    const mean = others.reduce((sum, value) => sum + value, 0) / Math.max(others.length, 1);
    return (share(task, report.mainMethod) ?? -1) - mean;
  };
  const flown = report.tasks.filter((task) => task.heldOut && task.flights.has(report.mainMethod));
  const first = [...flown].sort((a, b) => lead(b) - lead(a) || (b.gates ?? 0) - (a.gates ?? 0))[0];
  return first ?? report.tasks.find((task) => task.flights.size > 0) ?? report.tasks[0] ?? null;
}

async function start(): Promise<void> {
  let report: Report;
  try {
    report = await loadReport();
  } catch (error) {
    installTheme([], []);
    replace(byId('top'), h('div', { class: 'bar' }, h('h1', {}, 'Facet'), themeButton()));
    replace(byId('main'), h('p', { class: 'notice', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    return;
  }
  installTheme(report.colors, report.methods);
  installTip(byId('tip'));
  build(report);
}

void start();
