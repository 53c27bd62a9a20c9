// The report's data: read from the page, checked, and put into the shape the page works with.
//
// docs/report.md describes the format. Whatever is missing or of a wrong kind becomes null or is left
// out here, with a sentence in `problems`, so that the rest of the page need not doubt what it gets.

export type Vec3 = readonly [number, number, number];

export interface Method {
  id: string;
  name: string;
  short: string;
  description: string;
  light: string;
  dark: string;
  dash: string;
  width: number;
  shown: boolean;
}

export interface Gate {
  name: string;
  center: Vec3;
  normal: Vec3; // unit length, the direction of passage
}

export interface Track {
  name: string;
  description: string;
  points: Vec3[]; // of the path: start, gates and turning points, finish
  gates: Gate[];
}

export interface Opening {
  name: string;
  halfWidth: number | null;
}

export interface GateResult {
  crossed: boolean;
  passed: boolean;
  miss: number | null; // m from the centre
  time: number | null;
}

export interface Flight {
  method: string;
  seed: number | null;
  passed: number | null;
  gates: number | null;
  end: string;
  crash: string;
  duration: number | null;
  speedGenerated: number | null;
  speedFlown: number | null;
  error: number | null;
  results: GateResult[];
  rate: number; // samples a second
  samples: number;
  positions: number[]; // x y z a sample
  attitudes: number[] | null; // w x y z a sample
  speeds: number[] | null;
}

export interface Frame {
  step: number | null;
  noise: number | null;
  positions: number[]; // x y z a keypoint
}

/** The plan from noise to path, over the steps of the sampler. */
export interface Denoising {
  method: string;
  steps: number | null;
  frames: Frame[];
}

export interface Task {
  id: string;
  track: number;
  opening: number;
  feasible: boolean;
  heldOut: boolean;
  speedReference: number | null;
  gates: number | null;
  paperPassed: number | null;
  certified: number | null;
  flights: Map<string, Flight>;
  denoising: Denoising | null;
}

export interface Color {
  id: string;
  light: string;
  dark: string;
}

export interface Figure {
  id: string;
  group: string;
  title: string;
  caption: string;
  svg: string | null;
  missing: string;
}

export type Cell = string | number | null;

export interface Column {
  name: string;
  right: boolean;
  decimals: number | null;
}

export interface Table {
  id: string;
  group: string;
  title: string;
  note: string;
  columns: Column[];
  rows: Cell[][];
  heldOut: boolean[];
  missing: string;
  command: string;
  seed: number | null;
  version: string;
  source: string;
}

export interface Source {
  id: string;
  name: string;
  state: string;
  note: string;
}

/** A picture of the onboard camera. */
export interface CameraFrame {
  time: number;
  distance: number | null; // m from the gate
  png: string; // base64
}

/** What became of the trials in a venue, and the flight that is shown with its frames. */
export interface Venue {
  name: string;
  heldOut: boolean;
  counts: { trials: number; success: number; crash: number; timeout: number } | null;
  interval: readonly [number, number] | null; // of the rate of success
  figure: string;
  shown: { color: string; gate: string; side: string; end: string; duration: number | null } | null;
  frames: CameraFrame[];
}

/** Flights through one gate by camera. */
export interface SingleGate {
  policy: string;
  mode: string;
  venues: Venue[];
}

/** A small policy that the page samples from itself, and what it passed when the page was written. */
export interface LivePolicy {
  policy: string; // the name of its file
  parameters: number | null;
  seed: number;
  results: { task: string; heldOut: boolean; passed: number; gates: number }[];
  weights: string; // the file, in base64
}

/** Held-out gates that a network passes which is only told its task, on the mean of its trainings. */
export interface Told {
  passed: number;
  gates: number;
  trainings: number;
  longer: { passed: number; trainings: number } | null; // with as many operations as ours
}

export interface Report {
  version: string;
  command: string;
  sources: Source[];
  messages: string[];
  problems: string[]; // what this page could not read
  colors: Color[];
  methods: Method[];
  mainMethod: string;
  arena: { min: Vec3; max: Vec3 };
  tracks: Track[];
  openings: Opening[];
  tasks: Task[];
  told: Told | null;
  live: LivePolicy | null;
  gate: SingleGate | null;
  figures: Figure[];
  tables: Table[];
}

type Json = Record<string, unknown>;

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const count = (value: unknown): number | null => {
  const n = number(value);
  return n !== null && Number.isInteger(n) && n >= 0 ? n : null;
};

function readTold(value: Json): Told | null {
  const passed = number(value.held_out), gates = count(value.gates), trainings = count(value.trainings);
  const more = number(value.longer_held_out), times = count(value.longer_trainings);
  const longer = more !== null && times ? { passed: more, trainings: times } : null;
  return passed !== null && gates && trainings ? { passed, gates, trainings, longer } : null;
}

/** A flat list of finite numbers whose length is a multiple of `stride`; null when it is not one. */
function numbers(value: unknown, stride: number): number[] | null {
  if (!Array.isArray(value) || value.length % stride !== 0) return null;
  return value.every((x) => typeof x === 'number' && Number.isFinite(x)) ? (value as number[]) : null;
}

function vec3(value: unknown): Vec3 | null {
  const v = numbers(value, 3);
  return v && v.length === 3 ? [v[0]!, v[1]!, v[2]!] : null;
}

// Only plain hexadecimal colours and plain ids reach a style sheet.
const color = (value: unknown, fallback: string): string =>
  typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value) ? value : fallback;
const plainId = (value: string): boolean => /^[a-z0-9_-]{1,40}$/i.test(value);

function readGate(value: unknown): Gate | null {
  const gate = object(value);
  const center = vec3(gate.center);
  const normal = vec3(gate.normal);
  if (!center || !normal) return null;
  const length = Math.hypot(...normal);
  if (length < 1e-6) return null;
  return {
    name: text(gate.name),
    center,
    normal: [normal[0] / length, normal[1] / length, normal[2] / length],
  };
}

function readFlight(value: Json, problems: string[], where: string): Flight {
  const rate = number(value.rate);
  let positions = numbers(value.positions ?? [], 3);
  if (!positions || rate === null || rate <= 0) {
    problems.push(`${where}: its path cannot be read, so it is not drawn.`);
    positions = [];
  }
  const samples = positions.length / 3;
  const attitudes = numbers(value.attitudes, 4);
  const speeds = numbers(value.speeds, 1);
  return {
    method: text(value.method),
    seed: number(value.seed),
    passed: count(value.passed),
    gates: count(value.gates),
    end: text(value.end),
    crash: text(value.crash),
    duration: number(value.duration),
    speedGenerated: number(value.speed_generated),
    speedFlown: number(value.speed_flown),
    error: number(value.error_m),
    results: list(value.gate_results).map((entry) => {
      const result = object(entry);
      return {
        crossed: result.crossed === true,
        passed: result.passed === true,
        miss: number(result.miss),
        time: number(result.time),
      };
    }),
    rate: rate !== null && rate > 0 ? rate : 1,
    samples,
    positions,
    attitudes: attitudes && attitudes.length === samples * 4 ? attitudes : null,
    speeds: speeds && speeds.length === samples ? speeds : null,
  };
}

function readDenoising(value: Json): Denoising | null {
  const frames: Frame[] = [];
  for (const entry of list(value.frames)) {
    const frame = object(entry);
    const positions = numbers(frame.positions, 3);
    if (!positions || positions.length < 6) continue;
    if (frames[0] && frames[0].positions.length !== positions.length) continue;
    frames.push({ step: count(frame.step), noise: number(frame.noise), positions });
  }
  return frames.length > 1 ? { method: text(value.method), steps: count(value.steps), frames } : null;
}

// A PNG file in base64: its signature, and nothing that could end a data URI.
const isPng = (value: unknown): value is string =>
  typeof value === 'string' && /^iVBORw0KGgo[A-Za-z0-9+/]+={0,2}$/.test(value);

function readCounts(value: Json): Venue['counts'] {
  const [trials, success, crash, timeout] = [value.trials, value.success, value.crash, value.timeout].map(count);
  if (trials == null || success == null || crash == null || timeout == null) return null;
  return trials > 0 && success + crash + timeout === trials ? { trials, success, crash, timeout } : null;
}

function readVenue(value: Json, problems: string[]): Venue {
  const name = text(value.name) || '?';
  const frames: CameraFrame[] = [];
  for (const entry of list(value.frames)) {
    const frame = object(entry);
    const time = number(frame.time);
    if (time !== null && isPng(frame.png)) frames.push({ time, distance: number(frame.distance), png: frame.png });
    else problems.push(`${name}: a camera frame cannot be read, so it is not shown.`);
  }
  const [low, high] = [number(value.low), number(value.high)];
  const shown = object(value.shown);
  return {
    name,
    heldOut: value.held_out === true,
    counts: readCounts(value),
    interval: low !== null && high !== null ? [low, high] : null,
    figure: text(value.figure),
    shown: Object.keys(shown).length
      ? { color: text(shown.color), gate: text(shown.gate), side: text(shown.side), end: text(shown.end), duration: number(shown.duration) }
      : null,
    frames: frames.sort((a, b) => a.time - b.time),
  };
}

function readSingleGate(value: unknown, problems: string[]): SingleGate | null {
  const gate = object(value);
  const venues = list(gate.venues).map((entry) => readVenue(object(entry), problems));
  return venues.length ? { policy: text(gate.policy), mode: text(gate.mode), venues } : null;
}

const isBase64 = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(value);

function readLive(value: unknown, tasks: Task[]): LivePolicy | null {
  const live = object(value);
  if (!isBase64(live.weights)) return null;
  const results = list(live.results).flatMap((entry) => {
    const result = object(entry);
    const task = tasks[count(result.task) ?? -1];
    const [passed, gates] = [count(result.passed), count(result.gates)];
    if (!task || passed === null || gates === null) return [];
    return [{ task: task.id, heldOut: result.held_out === true, passed, gates }];
  });
  return { policy: text(live.policy), parameters: count(live.parameters), seed: count(live.seed) ?? 1, results, weights: live.weights };
}

function readTable(value: Json): Table {
  const columns = list(value.columns).map((entry) => {
    const column = object(entry);
    const decimals = count(column.decimals);
    return {
      name: text(column.name),
      right: column.align !== 'left',
      decimals: decimals !== null && decimals <= 20 ? decimals : null,
    };
  });
  const rows = list(value.rows).map((row) =>
    columns.map((_, i): Cell => {
      const cell = list(row)[i];
      return typeof cell === 'string' ? cell : number(cell);
    }),
  );
  return {
    id: text(value.id),
    group: text(value.group),
    title: text(value.title) || 'Table',
    note: text(value.note),
    columns,
    rows,
    heldOut: rows.map((_, i) => list(value.held_out)[i] === true),
    missing: text(value.missing) || (columns.length && rows.length ? '' : 'This table has no data.'),
    command: text(value.command),
    seed: number(value.seed),
    version: text(value.version),
    source: text(value.source),
  };
}

function readMethods(data: Json): Method[] {
  const methods: Method[] = [];
  for (const entry of list(data.methods)) {
    const value = object(entry);
    const id = text(value.id);
    if (!id || methods.some((method) => method.id === id)) continue;
    const width = number(value.width);
    methods.push({
      id,
      name: text(value.name) || id,
      short: text(value.short) || text(value.name) || id,
      description: text(value.description),
      light: color(value.color_light, '#555555'),
      dark: color(value.color_dark, '#bbbbbb'),
      dash: /^[\d ,.]*$/.test(text(value.dash)) ? text(value.dash) : '',
      width: width !== null && width > 0 && width < 10 ? width : 2,
      shown: value.shown !== false,
    });
  }
  return methods;
}

function readColors(data: Json, methods: Method[]): Color[] {
  const colors = new Map<string, Color>();
  for (const method of methods) {
    if (plainId(method.id)) colors.set(method.id, { id: method.id, light: method.light, dark: method.dark });
  }
  for (const entry of list(data.colors)) {
    const value = object(entry);
    const id = text(value.id);
    if (!plainId(id)) continue;
    colors.set(id, { id, light: color(value.light, '#555555'), dark: color(value.dark, '#bbbbbb') });
  }
  return [...colors.values()];
}

/** The bounds of the arena; without them, those of all gates and some air around. */
function readArena(course: Json, tracks: Track[]): { min: Vec3; max: Vec3 } {
  const arena = object(course.arena);
  const min = vec3(arena.min);
  const max = vec3(arena.max);
  if (min && max && min.every((low, i) => low < max[i]!)) return { min, max };
  const low = [-5, -5, 0];
  const high = [5, 5, 5];
  for (const gate of tracks.flatMap((track) => track.gates)) {
    for (let i = 0; i < 3; i++) {
      low[i] = Math.min(low[i]!, gate.center[i]! - (i < 2 ? 3 : 0));
      high[i] = Math.max(high[i]!, gate.center[i]! + 3);
    }
  }
  return { min: [low[0]!, low[1]!, low[2]!], max: [high[0]!, high[1]!, high[2]!] };
}

/** Puts parsed JSON into the page's shape. Throws only when there is nothing at all to show. */
export function readReport(parsed: unknown): Report {
  const data = object(parsed);
  if (Object.keys(data).length === 0) {
    throw new Error('This page holds no results. The command `facet report` writes one that does.');
  }
  if (data.format !== undefined && data.format !== 1) {
    throw new Error(`The results are of format ${text(data.format) || '?'}, but this page reads format 1.`);
  }
  const problems: string[] = [];
  const course = object(data.course);
  const openings = list(course.openings).map((entry) => ({
    name: text(object(entry).name) || '?',
    halfWidth: number(object(entry).half_width),
  }));
  const tracks = list(course.tracks).map((entry) => {
    const value = object(entry);
    const gates = list(value.gates).map(readGate);
    const whole = gates.filter((gate): gate is Gate => gate !== null);
    const name = text(value.name) || '?';
    if (whole.length !== gates.length) problems.push(`${name}: some gates have no place and are not drawn.`);
    const points = list(value.points).map(vec3).filter((point): point is Vec3 => point !== null);
    return { name, description: text(value.description), points, gates: whole };
  });
  const methods = readMethods(data);

  const tasks = list(data.tasks).map((entry): Task => {
    const value = object(entry);
    return {
      id: text(value.id) || '?',
      track: count(value.track) ?? -1,
      opening: count(value.opening) ?? -1,
      feasible: value.feasible !== false,
      heldOut: value.held_out === true,
      speedReference: number(value.speed_reference),
      gates: count(value.gates),
      paperPassed: count(value.paper_passed),
      certified: count(value.certified),
      flights: new Map(),
      denoising: null,
    };
  });
  for (const entry of list(data.flights)) {
    const value = object(entry);
    const task = tasks[count(value.task) ?? -1];
    const method = methods.find((candidate) => candidate.id === text(value.method));
    if (!task || !method) {
      problems.push('A flight names a task or a method that is not in the data; it is left out.');
      continue;
    }
    task.flights.set(method.id, readFlight(value, problems, `${task.id}, ${method.short}`));
  }
  for (const entry of list(data.denoising)) {
    const task = tasks[count(object(entry).task) ?? -1];
    if (task) task.denoising = readDenoising(object(entry));
  }

  const gate = readSingleGate(data.gate, problems);
  const main = text(data.main_method);
  return {
    version: text(data.version),
    command: text(data.command),
    sources: list(data.sources).map((entry) => {
      const value = object(entry);
      return { id: text(value.id), name: text(value.name), state: text(value.state), note: text(value.note) };
    }),
    messages: list(data.messages).map(text).filter(Boolean),
    problems: [...new Set(problems)],
    colors: readColors(data, methods),
    methods,
    mainMethod: methods.some((method) => method.id === main) ? main : (methods[0]?.id ?? ''),
    arena: readArena(course, tracks),
    tracks,
    openings,
    tasks: tasks.filter((task) => tracks[task.track] && openings[task.opening]),
    told: readTold(object(data.told)),
    live: readLive(data.live, tasks),
    gate,
    figures: list(data.figures).map((entry) => {
      const value = object(entry);
      const svg = typeof value.svg === 'string' ? value.svg : null;
      return {
        id: text(value.id),
        group: text(value.group),
        title: text(value.title) || 'Figure',
        caption: text(value.caption),
        svg,
        missing: text(value.missing) || (svg ? '' : 'This figure has no data.'),
      };
    }),
    tables: list(data.tables).map((entry) => readTable(object(entry))),
  };
}

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** The data as the program packed it; data that is not packed stays as it is. */
async function unpack(parsed: unknown): Promise<unknown> {
  const { deflated } = object(parsed);
  if (!isBase64(deflated)) return parsed;
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('This browser is too old to unpack the results: it has no DecompressionStream.');
  }
  const stream = new Blob([bytesOf(deflated)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}

/** Reads the data that the page carries. */
export async function loadReport(): Promise<Report> {
  const source = document.getElementById('facet-data')?.textContent ?? '';
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch {
    throw new Error('The results in this page cannot be read: they are not whole JSON. Write the page again with `facet report`.');
  }
  let whole: unknown;
  try {
    whole = await unpack(parsed);
  } catch (error) {
    if (error instanceof Error && error.message.includes('DecompressionStream')) throw error;
    throw new Error('The results in this page cannot be read: they cannot be unpacked. Write the page again with `facet report`.');
  }
  return readReport(whole);
}

/** Gates passed by a method over the tasks that `choose` picks; null when it flew none of them. */
export function passage(
  tasks: Task[],
  method: string,
  choose: (task: Task) => boolean,
): { passed: number; gates: number; tasks: number; whole: number } | null {
  const sum = { passed: 0, gates: 0, tasks: 0, whole: 0 };
  for (const task of tasks) {
    const flight = task.flights.get(method);
    if (!flight || !choose(task) || flight.passed === null || flight.gates === null) continue;
    sum.passed += flight.passed;
    sum.gates += flight.gates;
    sum.tasks += 1;
    if (flight.passed === flight.gates) sum.whole += 1;
  }
  return sum.tasks > 0 ? sum : null;
}
