// Gates that can be dragged over the ground, with the pointer, at their height.
import type { Vec3 } from '../data';
import type { Stage } from '../scene/stage';

/** Calls `moved` with a gate and its new centre while it is dragged. */
export function dragGates(
  view: HTMLElement,
  stage: Stage,
  centerOf: (gate: number) => Vec3,
  moved: (gate: number, center: Vec3) => void,
): void {
  let held: { gate: number; pointer: number; from: Vec3; offset: [number, number] } | null = null;
  const place = (event: PointerEvent | Touch): [number, number] => {
    const box = view.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  // Before the camera's own listener, which stands on the canvas inside.
  view.addEventListener('pointerdown', (event) => {
    const gate = event.button === 0 ? stage.gateAt(...place(event)) : null;
    if (gate === null) return;
    const from = centerOf(gate);
    const at = stage.pointAt(...place(event), from[2]);
    if (!at) return;
    event.stopPropagation();
    held = { gate, pointer: event.pointerId, from, offset: [from[0] - at[0], from[1] - at[1]] };
    view.setPointerCapture(event.pointerId);
  }, { capture: true });
  view.addEventListener('pointermove', (event) => {
    if (held?.pointer !== event.pointerId) {
      if (!held) view.classList.toggle('over-gate', event.buttons === 0 && stage.gateAt(...place(event)) !== null);
      return;
    }
    const at = stage.pointAt(...place(event), held.from[2]);
    if (at) moved(held.gate, [at[0] + held.offset[0], at[1] + held.offset[1], held.from[2]]);
  });
  const drop = (event: PointerEvent): void => {
    if (held?.pointer === event.pointerId) held = null;
  };
  view.addEventListener('pointerup', drop);
  view.addEventListener('pointercancel', drop);
  // A finger on a gate moves it; elsewhere it scrolls the page.
  view.addEventListener('touchstart', (event) => {
    const touch = event.touches[0];
    if (event.touches.length === 1 && touch && stage.gateAt(...place(touch)) !== null) event.preventDefault();
  }, { passive: false });
}
