// Light and dark: the reader's system decides until the button in the header does. The colours of
// the page stand here once, for the style sheet, the figures and the 3D view alike.
import { h } from './dom';
import type { Color, Method } from './data';

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  page: string;
  panel: string;
  sky: string;
  gate: string;
  accent: string;
  pass: string;
  miss: string;
}

const palettes: Record<'light' | 'dark', Palette> = {
  light: {
    ink: '#1c2127',
    muted: '#57606a',
    line: '#d3d9e0',
    page: '#f5f6f8',
    panel: '#ffffff',
    sky: '#eef2f6',
    gate: '#6b7580',
    accent: '#0a58b8',
    pass: '#1a7341',
    miss: '#b3261e',
  },
  dark: {
    ink: '#e4e8ed',
    muted: '#9aa5b1',
    line: '#343c46',
    page: '#14181d',
    panel: '#1b2027',
    sky: '#161c24',
    gate: '#8c97a3',
    accent: '#7ab4ff',
    pass: '#5cc98a',
    miss: '#ff8a80',
  },
};

// The figures' own names for those of the page's colours that they use.
const figureNames: Record<string, keyof Palette> = {
  ink: 'ink',
  muted: 'muted',
  grid: 'line',
  bg: 'panel',
  gate: 'gate',
  accent: 'accent',
  pass: 'pass',
  miss: 'miss',
};

const dark = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: 'light' | 'dark' | null = null;
const listeners: (() => void)[] = [];

export const themeName = (): 'light' | 'dark' => chosen ?? (dark.matches ? 'dark' : 'light');
export const palette = (): Palette => palettes[themeName()];
export const onTheme = (listener: () => void): void => void listeners.push(listener);

/** Writes the colours into the page: variables, and a rule for each class that figures use. */
export function installTheme(colors: Color[], methods: Method[]): void {
  const declare = (name: 'light' | 'dark'): string =>
    Object.entries(palettes[name]).map(([key, value]) => `--${key}:${value};`).join('') +
    colors
      .filter((color) => !figureNames[color.id])
      .map((color) => `--c-${color.id}:${color[name]};`)
      .join('') +
    methods.map((method, i) => `--m${i}:${method[name]};`).join('');
  const names = [
    ...Object.entries(figureNames).map(([id, key]) => [id, `--${key}`]),
    ...colors.filter((color) => !figureNames[color.id]).map((color) => [color.id, `--c-${color.id}`]),
  ];
  const rules = names.map(
    ([id, variable]) =>
      `figure svg.facet-figure .s-${id}{stroke:var(${variable})}` +
      `figure svg.facet-figure .f-${id}{fill:var(${variable})}`,
  );
  const sheet = h('style');
  sheet.textContent =
    `:root[data-theme=light]{color-scheme:light;${declare('light')}}` +
    `:root[data-theme=dark]{color-scheme:dark;${declare('dark')}}${rules.join('')}`;
  document.head.appendChild(sheet);
  apply();
  dark.addEventListener('change', apply);
}

function apply(): void {
  document.documentElement.dataset.theme = themeName();
  for (const listener of listeners) listener();
}

/** The button that goes to the other theme. */
export function themeButton(): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'quiet', id: 'theme' });
  const show = (): void => {
    button.textContent = themeName() === 'dark' ? 'Light theme' : 'Dark theme';
  };
  button.addEventListener('click', () => {
    chosen = themeName() === 'dark' ? 'light' : 'dark';
    apply();
  });
  onTheme(show);
  show();
  return button;
}
