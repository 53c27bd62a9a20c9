// The viewer: the 3D stage with its controls, by mouse and by keyboard.
import type { Report, Task } from './data';
import { h, replace } from './dom';
import { metres, number, seconds } from './format';
import { Player } from './player';
import { flightSeconds, speedAt } from './scene/drone';
import { Stage, type CameraName } from './scene/stage';
import { onTheme } from './theme';

type Mode = 'flight' | 'denoising';

const framesPerSecond = 6; // of a denoising at speed 1

export class Viewer {
  readonly element: HTMLElement;
  private readonly view = h('div', { class: 'view' });
  private readonly canvas = h('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-describedby': 'viewer-keys',
  });
  private readonly message = h('p', { class: 'view-message', role: 'status' });
  private readonly play = h('button', { type: 'button', id: 'play', class: 'primary' }, 'Play');
  private readonly scrub = h('input', { type: 'range', id: 'scrub', min: 0, max: 1000, step: 1, value: 0 });
  private readonly readout = h('output', { id: 'readout', for: 'scrub' });
  private readonly speed = h('select', { id: 'speed', 'aria-label': 'Playing speed' });
  private readonly modes = radios('mode', 'What to play', [
    ['flight', 'Flight'],
    ['denoising', 'Denoising'],
  ]);
  private readonly cameras = radios('camera', 'Camera', [
    ['orbit', 'Orbit'],
    ['chase', 'Chase'],
    ['gate', 'Gate'],
  ]);
  private readonly gateChoice = h('select', { id: 'gate', 'aria-label': 'Gate to look at' });
  private readonly reset = h('button', { type: 'button', id: 'reset' }, 'Reset view');
  private readonly player = new Player(() => this.refresh());
  private stage: Stage | null = null;
  private task: Task | null = null;
  private method = '';
  private visible = new Set<string>();
  private mode: Mode = 'flight';

  constructor(private readonly report: Report) {
    for (const value of [0.25, 0.5, 1, 2, 4]) {
      this.speed.append(h('option', { value, selected: value === 1 }, `${value}×`));
    }
    const keys = 'Keys: space plays, left and right scrub, A D W S turn the view, + and − zoom.';
    this.view.append(this.canvas, this.message);
    this.element = h(
      'section',
      { class: 'viewer panel', id: 'viewer', 'aria-label': 'Flights in 3D' },
      this.view,
      h('div', { class: 'controls' },
        this.play,
        h('label', { class: 'scrub' }, h('span', { class: 'hidden' }, 'Time'), this.scrub),
        this.readout,
        h('label', {}, 'Speed ', this.speed),
      ),
      h('div', { class: 'controls' },
        this.modes.element,
        this.cameras.element,
        h('label', { class: 'gate-choice' }, this.gateChoice),
        this.reset,
      ),
      h('p', { class: 'hint', id: 'viewer-keys' }, keys, ' Squares on the ground: 1 m.'),
    );
    this.listen();
    try {
      this.stage = new Stage(this.view, this.canvas, report);
      this.element.dataset.webgl = 'yes';
    } catch {
      this.element.dataset.webgl = 'no';
      this.canvas.remove();
      this.say('This browser offers no WebGL, so the flights cannot be shown in 3D. The grid, the figures and the tables work without it.');
      for (const control of this.element.querySelectorAll<HTMLInputElement>('button, input, select')) {
        control.disabled = true;
      }
    }
    onTheme(() => this.stage?.recolor());
  }

  private listen(): void {
    this.play.addEventListener('click', () => this.player.toggle());
    this.scrub.addEventListener('input', () => {
      this.player.seek((Number(this.scrub.value) / 1000) * this.player.length);
    });
    this.speed.addEventListener('change', () => (this.player.speed = Number(this.speed.value)));
    this.modes.onChange((value) => {
      this.mode = value as Mode;
      this.load();
    });
    const aim = (): void => this.stage?.setCamera(this.cameras.value() as CameraName, Number(this.gateChoice.value));
    this.cameras.onChange(() => {
      this.refresh();
      aim();
    });
    this.gateChoice.addEventListener('change', aim);
    this.reset.addEventListener('click', () => {
      this.cameras.set('orbit');
      aim();
      this.stage?.resetCamera();
      this.refresh();
    });
    document.addEventListener('keydown', (event) => this.key(event));
  }

  /** Keys work where they mean nothing else: on the page itself and on the view. */
  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.stage) return;
    const target = event.target as HTMLElement;
    const own = target === this.canvas;
    if (!own && target !== document.body && target.id !== 'main') return;
    const step = this.player.length / 100;
    const turn = 0.12;
    const actions: Record<string, () => void> = {
      ' ': () => this.player.toggle(),
      ArrowLeft: () => this.player.seek(this.player.position - step),
      ArrowRight: () => this.player.seek(this.player.position + step),
    };
    if (own) {
      Object.assign(actions, {
        Home: () => this.player.seek(0),
        End: () => this.player.seek(this.player.length),
        a: () => this.stage?.nudge(-turn, 0, 1),
        d: () => this.stage?.nudge(turn, 0, 1),
        w: () => this.stage?.nudge(0, turn, 1),
        s: () => this.stage?.nudge(0, -turn, 1),
        '+': () => this.stage?.nudge(0, 0, 0.88),
        '=': () => this.stage?.nudge(0, 0, 0.88),
        '-': () => this.stage?.nudge(0, 0, 1 / 0.88),
      });
    }
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private say(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }

  /** Shows a task with its gates judged by `method`. The clock starts anew for another task. */
  show(task: Task, method: string, visible: Set<string>): void {
    const another = task !== this.task;
    const judged = another || method !== this.method;
    this.task = task;
    this.method = method;
    this.visible = visible;
    const track = this.report.tracks[task.track]!;
    const opening = this.report.openings[task.opening]!;
    if (another) {
      replace(this.gateChoice, ...track.gates.map((_, i) => h('option', { value: i }, `Gate ${i + 1}`)));
    }
    if (!this.stage) return;
    if (judged) {
      this.stage.setTask({
        gates: track.gates,
        halfWidth: opening.halfWidth ?? 0.5,
        results: task.flights.get(method)?.results ?? [],
        flights: this.report.methods.flatMap((entry) => {
          const flight = task.flights.get(entry.id);
          return flight ? [{ method: entry, flight }] : [];
        }),
        denoising: task.denoising,
      }, another);
    }
    this.stage.setVisible(visible, method);
    this.element.dataset.visible = [...visible].join(' ');
    if (another) {
      if (!task.denoising) this.mode = 'flight';
      this.modes.set(this.mode);
      this.modes.enable('denoising', task.denoising !== null);
      this.stage.setCamera(this.cameras.value() as CameraName, Number(this.gateChoice.value));
      this.load();
    } else {
      this.resize();
    }
    this.canvas.setAttribute('aria-label', `The flights of ${task.id} in 3D, with ${track.gates.length} gates`);
  }

  private flightLength(): number {
    let length = 0;
    for (const [method, flight] of this.task?.flights ?? []) {
      if (this.visible.has(method)) length = Math.max(length, flightSeconds(flight));
    }
    return length;
  }

  private load(): void {
    const denoising = this.mode === 'denoising' ? this.task?.denoising : null;
    if (denoising) this.player.load(denoising.frames.length - 1, framesPerSecond);
    else this.player.load(this.flightLength(), 1);
  }

  /** Another choice of methods: the clock goes on, within the longest flight that is left. */
  private resize(): void {
    if (this.mode === 'flight') this.player.length = this.flightLength();
    this.player.seek(this.player.position);
  }

  private refresh(): void {
    const { player, task, stage } = this;
    if (!task || !stage) return;
    const denoising = this.mode === 'denoising' ? task.denoising : null;
    stage.setFrame(denoising ? player.position : null);
    if (!denoising) stage.setTime(player.position);

    this.play.textContent = player.playing ? 'Pause' : 'Play';
    this.play.setAttribute('aria-pressed', String(player.playing));
    this.scrub.value = String(player.length > 0 ? Math.round((1000 * player.position) / player.length) : 0);
    this.scrub.disabled = this.play.disabled = player.length <= 0;
    this.gateChoice.disabled = this.cameras.value() !== 'gate';
    this.element.dataset.time = player.position.toFixed(3);
    this.element.dataset.drone = stage.leaderPosition()?.map((x) => x.toFixed(3)).join(' ') ?? '';

    let label: string;
    if (denoising) {
      const frame = denoising.frames[Math.min(Math.round(player.position), denoising.frames.length - 1)]!;
      const noise = frame.noise === null ? '' : `, noise ${number(frame.noise, 2)}`;
      label = `step ${frame.step ?? Math.round(player.position)} of ${denoising.steps ?? player.length}${noise}`;
    } else {
      const flight = task.flights.get(this.method);
      const speed = flight && this.visible.has(this.method) ? speedAt(flight, player.position) : null;
      label = `${seconds(player.position)} of ${seconds(player.length)}`;
      if (speed !== null) label += `, ${number(speed, 1)} m/s`;
    }
    this.readout.textContent = label;
    this.scrub.setAttribute('aria-valuetext', label);
    this.say(this.emptiness(task));
  }

  /** Why nothing flies on stage; empty when something does. */
  private emptiness(task: Task): string {
    const opening = this.report.openings[task.opening]!;
    if (!task.feasible) {
      const width = opening.halfWidth === null ? '' : ` (half-width ${metres(opening.halfWidth)})`;
      return `Infeasible: the expert found no speed at which it clears every gate of this track with the ${opening.name} opening${width}. Nobody flies it.`;
    }
    const drawn = [...task.flights.values()].filter((flight) => flight.samples > 1);
    if (drawn.length === 0) return 'The results hold no flights of this task.';
    if (!drawn.some((flight) => this.visible.has(flight.method))) return 'All flights are switched off in the list of methods.';
    return '';
  }
}

interface Radios {
  element: HTMLElement;
  value(): string;
  set(value: string): void;
  enable(value: string, on: boolean): void;
  onChange(listener: (value: string) => void): void;
}

function radios(name: string, legend: string, options: [string, string][]): Radios {
  const inputs = options.map(([value], i) => h('input', { type: 'radio', name, value, checked: i === 0 }));
  const element = h(
    'fieldset',
    { class: 'segments' },
    h('legend', { class: 'hidden' }, legend),
    ...options.map(([, label], i) => h('label', {}, inputs[i]!, h('span', {}, label))),
  );
  return {
    element,
    value: () => inputs.find((input) => input.checked)?.value ?? '',
    set: (value) => inputs.forEach((input) => (input.checked = input.value === value)),
    enable: (value, on) => inputs.forEach((input) => input.value === value && (input.disabled = !on)),
    onChange: (listener) =>
      inputs.forEach((input) => input.addEventListener('change', () => input.checked && listener(input.value))),
  };
}
