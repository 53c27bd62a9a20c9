// Tabs: a list of which one is open, and the elements that each shows. Arrow keys go from tab to tab,
// and the address of a tab's id opens it.
import { h } from './dom';

export interface Tab {
  id: string;
  title: string;
  elements: HTMLElement[];
  opened: () => void;
}

/** The list; the elements stay where the caller puts them. */
export function tabs(label: string, all: Tab[]): HTMLElement {
  const buttons = all.map((tab) =>
    h('button', { type: 'button', role: 'tab', id: `tab-${tab.id}`, 'aria-controls': tab.elements[0]!.id }, tab.title));
  const open = (chosen: number): void => {
    all.forEach((tab, i) => {
      buttons[i]!.setAttribute('aria-selected', String(i === chosen));
      buttons[i]!.tabIndex = i === chosen ? 0 : -1;
      for (const element of tab.elements) element.hidden = i !== chosen;
    });
    all[chosen]!.opened();
  };
  const byAddress = (): void => {
    const chosen = all.findIndex((tab) => location.hash === `#${tab.id}`);
    if (chosen >= 0) open(chosen);
  };
  buttons.forEach((button, i) => {
    button.addEventListener('click', () => open(i));
    button.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (i + step + all.length) % all.length;
      open(next);
      buttons[next]!.focus();
    });
  });
  open(0);
  window.addEventListener('hashchange', byAddress);
  queueMicrotask(byAddress); // once the elements are on the page
  return h('div', { class: 'tabs', role: 'tablist', 'aria-label': label }, ...buttons);
}
