// Gates: a ring whose inner edge is the opening (a gate is passed within its half-width of the
// centre), a post, an arrow in the direction of passage and a plate with the numbers in order.
// A missed gate differs by its broken ring and square plate too, not by colour alone.
import {
  CanvasTexture,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  Quaternion,
  SRGBColorSpace,
  Sprite,
  SpriteMaterial,
  TorusGeometry,
  Vector3,
} from 'three';
import type { Gate, GateResult } from '../data';
import type { Palette } from '../theme';

const tube = 0.045; // m, thickness of the ring

export type Outcome = 'passed' | 'missed' | 'unknown';

export function outcomeOf(result: GateResult | undefined): Outcome {
  return result ? (result.passed ? 'passed' : 'missed') : 'unknown';
}

const shade = (palette: Palette, outcome: Outcome): string =>
  outcome === 'passed' ? palette.pass : outcome === 'missed' ? palette.miss : palette.gate;

/** The plate above a gate: a disc for a passed one, a crossed square for a missed one. */
function plate(entries: { label: string; outcome: Outcome }[], palette: Palette): Sprite {
  const size = 64;
  const canvas = document.createElement('canvas');
  canvas.width = size * entries.length;
  canvas.height = size;
  const pen = canvas.getContext('2d');
  if (pen) {
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.font = '600 34px system-ui, sans-serif';
    pen.lineWidth = 6;
    entries.forEach(({ label, outcome }, i) => {
      const x = i * size + size / 2;
      const y = size / 2;
      pen.fillStyle = outcome === 'missed' ? palette.panel : shade(palette, outcome);
      pen.strokeStyle = outcome === 'missed' ? palette.miss : palette.panel;
      pen.beginPath();
      if (outcome === 'missed') pen.rect(x - 25, y - 25, 50, 50);
      else pen.arc(x, y, 27, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      if (outcome === 'missed') {
        pen.lineWidth = 3;
        pen.beginPath();
        pen.moveTo(x - 25, y + 25);
        pen.lineTo(x + 25, y - 25);
        pen.stroke();
        pen.lineWidth = 6;
      }
      pen.fillStyle = outcome === 'missed' ? palette.miss : palette.panel;
      pen.fillText(label, x, y + 2);
    });
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  const material = new SpriteMaterial({ map: texture, sizeAttenuation: false, depthTest: false });
  const sprite = new Sprite(material);
  const scale = 0.045;
  sprite.scale.set(scale * entries.length, scale, 1);
  sprite.center.set(0.5, -0.15);
  sprite.renderOrder = 10;
  return sprite;
}

function ring(radius: number, outcome: Outcome, palette: Palette): Group {
  const group = new Group();
  const material = new MeshLambertMaterial({ color: shade(palette, outcome) });
  if (outcome !== 'missed') {
    group.add(new Mesh(new TorusGeometry(radius + tube, tube, 10, 48), material));
    return group;
  }
  const pieces = 12;
  for (let i = 0; i < pieces; i++) {
    const arc = (2 * Math.PI) / pieces;
    const piece = new Mesh(new TorusGeometry(radius + tube, tube, 10, 6, arc * 0.6), material);
    piece.rotation.z = i * arc;
    group.add(piece);
  }
  return group;
}

/** All gates of a track. Gates at one place share a ring; it counts as missed if one of them is. */
export function buildGates(
  gates: Gate[],
  halfWidth: number,
  results: GateResult[],
  floor: number,
  palette: Palette,
): Group {
  const group = new Group();
  const places = new Map<string, number[]>();
  gates.forEach((gate, i) => {
    const key = gate.center.map((x) => x.toFixed(3)).join();
    places.set(key, [...(places.get(key) ?? []), i]);
  });
  for (const indices of places.values()) {
    const entries = indices.map((i) => ({ label: String(i + 1), outcome: outcomeOf(results[i]) }));
    const outcome = entries.some((entry) => entry.outcome === 'missed')
      ? 'missed'
      : entries.every((entry) => entry.outcome === 'passed')
        ? 'passed'
        : 'unknown';
    const gate = gates[indices[0]!]!;
    const center = new Vector3(...gate.center);
    const normal = new Vector3(...gate.normal);

    const frame = ring(halfWidth, outcome, palette);
    frame.position.copy(center);
    frame.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    group.add(frame);

    const foot = center.z - halfWidth - 2 * tube - floor;
    if (foot > 0.05) {
      const post = new Mesh(
        new CylinderGeometry(0.025, 0.025, foot, 8),
        new MeshLambertMaterial({ color: palette.gate }),
      );
      post.rotation.x = Math.PI / 2;
      post.position.set(center.x, center.y, floor + foot / 2);
      group.add(post);
    }
    for (const i of indices) {
      const direction = new Vector3(...gates[i]!.normal);
      const arrow = new Mesh(
        new ConeGeometry(0.09, 0.26, 12),
        new MeshLambertMaterial({ color: shade(palette, outcomeOf(results[i])) }),
      );
      arrow.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), direction));
      arrow.position.copy(center).addScaledVector(direction, 0.2);
      arrow.position.z += halfWidth + 2 * tube;
      group.add(arrow);
    }
    const label = plate(entries, palette);
    label.position.copy(center);
    label.position.z += halfWidth + 0.25;
    group.add(label);
  }
  return group;
}
