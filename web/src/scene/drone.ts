// A quadrotor built from a few boxes and discs, and where it is at a time of its flight.
import {
  BoxGeometry,
  Color,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  Quaternion,
  Vector3,
} from 'three';
import type { Flight } from '../data';

const arm = 0.17; // m from the centre to a rotor, along x and along y

export function buildDrone(color: string): Group {
  const drone = new Group();
  const body = new MeshLambertMaterial({ color });
  const dark = new MeshLambertMaterial({ color: new Color(color).multiplyScalar(0.55) });
  const rotor = new MeshLambertMaterial({ color, transparent: true, opacity: 0.55 });
  const add = (mesh: Mesh, x: number, y: number, z: number): Mesh => {
    mesh.position.set(x, y, z);
    drone.add(mesh);
    return mesh;
  };
  add(new Mesh(new BoxGeometry(0.2, 0.1, 0.06), body), 0, 0, 0);
  add(new Mesh(new BoxGeometry(0.07, 0.06, 0.05), dark), 0.12, 0, 0.01); // the camera, at the nose
  const diagonal = 2 * Math.hypot(arm, arm);
  for (const angle of [Math.PI / 4, -Math.PI / 4]) {
    add(new Mesh(new BoxGeometry(diagonal, 0.025, 0.02), dark), 0, 0, 0).rotation.z = angle;
  }
  for (const [x, y] of [[arm, arm], [arm, -arm], [-arm, arm], [-arm, -arm]] as const) {
    add(new Mesh(new CylinderGeometry(0.11, 0.11, 0.012, 20), rotor), x, y, 0.035).rotation.x = Math.PI / 2;
  }
  return drone;
}

/** The place between two samples at `time` seconds, the first or last one outside the flight. */
function sampleAt(flight: Flight, time: number): { index: number; fraction: number } {
  const at = Math.min(Math.max(time * flight.rate, 0), flight.samples - 1);
  const index = Math.min(Math.floor(at), Math.max(flight.samples - 2, 0));
  return { index, fraction: flight.samples > 1 ? at - index : 0 };
}

export function flightSeconds(flight: Flight): number {
  return flight.samples > 1 ? (flight.samples - 1) / flight.rate : 0;
}

export function positionAt(out: Vector3, flight: Flight, time: number): Vector3 {
  const { index, fraction } = sampleAt(flight, time);
  const next = Math.min(index + 1, flight.samples - 1);
  const p = flight.positions;
  return out.set(
    p[3 * index]! + fraction * (p[3 * next]! - p[3 * index]!),
    p[3 * index + 1]! + fraction * (p[3 * next + 1]! - p[3 * index + 1]!),
    p[3 * index + 2]! + fraction * (p[3 * next + 2]! - p[3 * index + 2]!),
  );
}

/** The mean direction of flight about `time`, over `span` seconds: a function of time alone. */
export function directionAt(out: Vector3, flight: Flight, time: number, span: number): Vector3 {
  const from = new Vector3();
  const end = flightSeconds(flight);
  const middle = Math.min(Math.max(time, span / 2), Math.max(end - span / 2, span / 2));
  positionAt(from, flight, middle - span / 2);
  positionAt(out, flight, middle + span / 2).sub(from);
  return out.lengthSq() > 1e-8 ? out.normalize() : out.set(1, 0, 0);
}

export function speedAt(flight: Flight, time: number): number | null {
  if (!flight.speeds || flight.samples === 0) return null;
  const { index, fraction } = sampleAt(flight, time);
  const next = Math.min(index + 1, flight.samples - 1);
  return flight.speeds[index]! + fraction * (flight.speeds[next]! - flight.speeds[index]!);
}

/** Puts a drone where its flight is. Without attitudes it stands level, its nose along the path. */
export function poseAt(drone: Group, flight: Flight, time: number): void {
  positionAt(drone.position, flight, time);
  const { index, fraction } = sampleAt(flight, time);
  const q = flight.attitudes;
  if (q) {
    const next = Math.min(index + 1, flight.samples - 1);
    const after = new Quaternion(q[4 * next + 1]!, q[4 * next + 2]!, q[4 * next + 3]!, q[4 * next]!);
    drone.quaternion
      .set(q[4 * index + 1]!, q[4 * index + 2]!, q[4 * index + 3]!, q[4 * index]!)
      .slerp(after, fraction)
      .normalize();
    return;
  }
  const direction = directionAt(new Vector3(), flight, time, 0.2);
  drone.rotation.set(0, 0, Math.atan2(direction.y, direction.x));
}
