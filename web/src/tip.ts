// One tooltip for everything that carries `data-tip`, by mouse, touch and keyboard.

export function installTip(box: HTMLElement): void {
  const hide = (): void => {
    box.hidden = true;
  };
  const show = (target: EventTarget | null, at: { x: number; y: number } | null): void => {
    const part = target instanceof Element ? (target.closest('[data-tip]') ?? (at && near(target, at))) : null;
    const text = part?.getAttribute('data-tip');
    if (!part || !text) return hide();
    box.textContent = text;
    box.hidden = false;
    const place = part.getBoundingClientRect();
    const x = at?.x ?? place.left + place.width / 2;
    const y = at?.y ?? place.top;
    const width = box.offsetWidth;
    const height = box.offsetHeight;
    const left = Math.min(Math.max(x - width / 2, 6), document.documentElement.clientWidth - width - 6);
    const top = y - height - 12 > 4 ? y - height - 12 : y + 18;
    box.style.left = `${left}px`;
    box.style.top = `${top}px`;
  };
  document.addEventListener('pointermove', (event) => show(event.target, { x: event.clientX, y: event.clientY }));
  document.addEventListener('pointerdown', (event) => show(event.target, { x: event.clientX, y: event.clientY }));
  document.addEventListener('focusin', (event) => show(event.target, null));
  document.addEventListener('focusout', hide);
  // Focus scrolls its element into view: a tip that is shown for the focus goes along.
  const follow = (): void => {
    if (!box.hidden && document.activeElement?.matches('[data-tip]')) show(document.activeElement, null);
    else hide();
  };
  document.addEventListener('scroll', follow, { passive: true, capture: true });
  document.addEventListener('keydown', (event) => event.key === 'Escape' && hide());
}

/** Curves are thin: what carries a tip within a few pixels of the pointer counts as well. */
function near(target: Element, at: { x: number; y: number }): Element | null {
  if (!target.closest('svg.facet-figure')) return null;
  for (const [dx, dy] of [[0, 4], [0, -4], [4, 0], [-4, 0], [0, 8], [0, -8], [8, 0], [-8, 0]] as const) {
    const part = document.elementFromPoint(at.x + dx, at.y + dy)?.closest('[data-tip]');
    if (part) return part;
  }
  return null;
}
