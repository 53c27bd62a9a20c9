// The 3D view: ground, gates, flown paths, drones and the plan being denoised, and three cameras.
//
// The world has z up, in metres. Nothing is drawn unless something changed: `invalidate` asks for one
// frame, and the page asks again while it plays.
import {
  AmbientLight,
  BufferGeometry,
  Color,
  DirectionalLight,
  DynamicDrawUsage,
  Float32BufferAttribute,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Material,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
  Spherical,
  Sprite,
  Texture,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import type { Denoising, Flight, Gate, GateResult, Method, Report, Vec3 } from '../data';
import { palette, themeName } from '../theme';
import { buildDrone, directionAt, poseAt, positionAt } from './drone';
import { buildGates } from './gates';

export type CameraName = 'orbit' | 'chase' | 'gate';

/** What is on stage: a task's gates and flights. */
export interface Setting {
  gates: Gate[];
  halfWidth: number;
  results: GateResult[]; // of the chosen method
  flights: { method: Method; flight: Flight }[];
  denoising: Denoising | null;
}

interface Actor {
  method: Method;
  flight: Flight;
  path: Line2;
  drone: Group;
}

export class Stage {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.05, 400);
  private readonly controls: OrbitControls;
  private readonly ground = new Group();
  private gateGroup = new Group();
  private actors: Actor[] = [];
  private plan: { line: Line2; dots: InstancedMesh; denoising: Denoising } | null = null;
  private setting: Setting | null = null;
  private visible = new Set<string>();
  private leader = '';
  private time = 0;
  private frame = 0; // of the denoising
  private denoisingShown = false;
  private cameraName: CameraName = 'orbit';
  private gateIndex = 0;
  private pending = false;

  /** Throws when the browser has no WebGL. */
  constructor(
    private readonly host: HTMLElement,
    readonly canvas: HTMLCanvasElement,
    private readonly report: Report,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableZoom = false; // until the view has the focus: the wheel scrolls the page
    this.controls.minDistance = 1;
    this.controls.maxDistance = 120;
    this.controls.maxPolarAngle = Math.PI * 0.495;
    this.controls.addEventListener('change', () => this.invalidate());
    canvas.style.touchAction = 'pan-y';
    canvas.addEventListener('focus', () => (this.controls.enableZoom = true));
    canvas.addEventListener('blur', () => (this.controls.enableZoom = false));

    this.scene.add(new AmbientLight(0xffffff, 1.7));
    const sun = new DirectionalLight(0xffffff, 2.0);
    sun.position.set(-6, -10, 18);
    this.scene.add(sun, this.ground);
    this.drawGround();
    this.resetCamera();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  // ---- What is on stage --------------------------------------------------------------------------

  /** Sets the stage; `look` turns the orbiting camera to it, as for another task. */
  setTask(setting: Setting, look: boolean): void {
    this.setting = setting;
    this.gateIndex = Math.min(this.gateIndex, Math.max(setting.gates.length - 1, 0));
    this.rebuild();
    if (look && this.cameraName === 'orbit') this.resetCamera();
  }

  /** After a change of theme: everything gets its colours anew. */
  recolor(): void {
    this.drawGround();
    this.rebuild();
  }

  private rebuild(): void {
    if (!this.setting) return;
    const { gates, halfWidth, results, flights, denoising } = this.setting;
    discard(this.gateGroup);
    this.gateGroup = buildGates(gates, halfWidth, results, this.report.arena.min[2], palette());
    this.scene.add(this.gateGroup);

    for (const actor of this.actors) discard(actor.path), discard(actor.drone);
    this.actors = flights
      .filter(({ flight }) => flight.samples > 1)
      .map(({ method, flight }) => {
        const color = method[themeName()];
        const path = fatLine(flight.positions, color, method.width, method.dash);
        const drone = buildDrone(color);
        this.scene.add(path, drone);
        return { method, flight, path, drone };
      });

    if (this.plan) discard(this.plan.line), discard(this.plan.dots);
    this.plan = null;
    if (denoising) {
      const color = palette().accent;
      const line = fatLine(denoising.frames[0]!.positions, color, 3, '');
      const points = denoising.frames[0]!.positions.length / 3;
      const dots = new InstancedMesh(new SphereGeometry(0.1, 12, 8), new MeshLambertMaterial({ color }), points);
      dots.instanceMatrix.setUsage(DynamicDrawUsage);
      dots.frustumCulled = false;
      this.scene.add(line, dots);
      this.plan = { line, dots, denoising };
    }
    this.update();
  }

  setVisible(methods: Set<string>, leader: string): void {
    this.visible = methods;
    this.leader = leader;
    this.update();
  }

  setTime(seconds: number): void {
    this.time = seconds;
    this.update();
  }

  /** Shows the plan at a frame of its denoising, or the flights again (null). */
  setFrame(frame: number | null): void {
    this.denoisingShown = frame !== null;
    this.frame = frame ?? 0;
    this.update();
  }

  setCamera(name: CameraName, gate: number): void {
    if (name === 'orbit' && this.cameraName !== 'orbit') this.resetCamera();
    this.cameraName = name;
    this.gateIndex = gate;
    this.update();
  }

  /** Where the leading drone is; null when there is none on stage. */
  leaderPosition(): Vec3 | null {
    const actor = this.leadingActor();
    return actor ? [actor.drone.position.x, actor.drone.position.y, actor.drone.position.z] : null;
  }

  private leadingActor(): Actor | null {
    const shown = this.actors.filter((actor) => this.visible.has(actor.method.id));
    return shown.find((actor) => actor.method.id === this.leader) ?? shown[0] ?? null;
  }

  private update(): void {
    for (const actor of this.actors) {
      const shown = this.visible.has(actor.method.id);
      actor.path.visible = shown;
      actor.drone.visible = shown && !this.denoisingShown;
      if (shown) poseAt(actor.drone, actor.flight, this.time);
      const material = actor.path.material as LineMaterial;
      material.opacity = this.denoisingShown ? 0.25 : 1;
      material.transparent = this.denoisingShown;
    }
    if (this.plan) this.updatePlan(this.plan);
    this.placeCamera();
    this.invalidate();
  }

  private updatePlan({ line, dots, denoising }: NonNullable<typeof this.plan>): void {
    line.visible = dots.visible = this.denoisingShown;
    if (!this.denoisingShown) return;
    const index = Math.min(Math.floor(this.frame), denoising.frames.length - 1);
    const next = Math.min(index + 1, denoising.frames.length - 1);
    const fraction = this.frame - index;
    const from = denoising.frames[index]!.positions;
    const to = denoising.frames[next]!.positions;
    const positions = from.map((x, i) => x + fraction * (to[i]! - x));
    line.geometry.setPositions(positions);
    const matrix = new Matrix4();
    for (let i = 0; i < dots.count; i++) {
      dots.setMatrixAt(i, matrix.makeTranslation(positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!));
    }
    dots.instanceMatrix.needsUpdate = true;
  }

  private drawGround(): void {
    discardChildren(this.ground);
    const { min, max } = this.report.arena;
    const colors = palette();
    this.scene.background = new Color(colors.sky);
    const minor: number[] = [];
    const major: number[] = [];
    for (let x = Math.ceil(min[0]); x <= max[0]; x++) (x % 5 ? minor : major).push(x, min[1], min[2], x, max[1], min[2]);
    for (let y = Math.ceil(min[1]); y <= max[1]; y++) (y % 5 ? minor : major).push(min[0], y, min[2], max[0], y, min[2]);
    const edge = [
      min[0], min[1], max[0], min[1], max[0], min[1], max[0], max[1],
      max[0], max[1], min[0], max[1], min[0], max[1], min[0], min[1],
    ];
    for (let i = 0; i < edge.length; i += 2) major.push(edge[i]!, edge[i + 1]!, min[2]);
    const lines = (points: number[], color: string, opacity: number): LineSegments => {
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new Float32BufferAttribute(points, 3));
      return new LineSegments(geometry, new LineBasicMaterial({ color, transparent: true, opacity }));
    };
    this.ground.add(lines(minor, colors.gate, 0.22), lines(major, colors.gate, 0.5));
  }

  // ---- Cameras -----------------------------------------------------------------------------------

  /** Looks at the task from the south, from as near as all of it is in view. */
  resetCamera(): void {
    const points = this.landmarks();
    const target = points.reduce((sum, at) => sum.add(at), new Vector3()).divideScalar(points.length);
    const direction = new Vector3(-0.2, -0.7, 0.68).normalize();
    const right = new Vector3(0, 0, 1).cross(direction).normalize();
    const up = direction.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.86; // room for the plates
    const wide = tall * this.camera.aspect;
    let distance = 3;
    for (let turn = 0; turn < 8; turn++) {
      // The angles under which the points are seen, so as to put their middle into the centre.
      const seen = (axis: Vector3): number => {
        const angles = points.map((at) => at.clone().sub(target)).map((at) => at.dot(axis) / (distance - at.dot(direction)));
        return ((Math.max(...angles) + Math.min(...angles)) / 2) * distance;
      };
      distance = Math.max(3, ...points.map((at) => {
        const offset = at.clone().sub(target);
        return offset.dot(direction) + Math.max(Math.abs(offset.dot(right)) / wide, Math.abs(offset.dot(up)) / tall);
      }));
      target.addScaledVector(right, seen(right)).addScaledVector(up, seen(up));
    }
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, distance);
    this.controls.update();
    this.invalidate();
  }

  /** The points that the orbiting camera begins with in view: gates, their feet and the first flight.
   * The other flights may be wild; they are not allowed to push the camera away. */
  private landmarks(): Vector3[] {
    const { min, max } = this.report.arena;
    const reach = this.setting?.halfWidth ?? 0;
    const points = (this.setting?.gates ?? []).flatMap((gate) => {
      const [x, y, z] = gate.center;
      const [side, ahead] = [-gate.normal[1] * reach, gate.normal[0] * reach];
      return [
        new Vector3(x, y, min[2]), new Vector3(x, y, z + reach),
        new Vector3(x + side, y + ahead, z), new Vector3(x - side, y - ahead, z),
      ];
    });
    const flight = this.setting?.flights[0]?.flight;
    for (let i = 0; flight && i < flight.samples; i += 5) {
      points.push(new Vector3(...flight.positions.slice(3 * i, 3 * i + 3)).clamp(new Vector3(...min), new Vector3(...max)));
    }
    return points.length ? points : [new Vector3(...min), new Vector3(max[0], max[1], min[2])];
  }

  /** Turns and zooms the orbiting camera by keyboard: radians, radians, and a factor of distance. */
  nudge(around: number, up: number, zoom: number): void {
    if (this.cameraName !== 'orbit') return;
    const offset = this.camera.position.clone().sub(this.controls.target);
    // Spherical has y as its axis; the world has z.
    const spherical = new Spherical().setFromVector3(new Vector3(offset.x, offset.z, -offset.y));
    spherical.theta += around;
    spherical.phi = Math.min(Math.max(spherical.phi - up, 0.05), this.controls.maxPolarAngle);
    spherical.radius = Math.min(Math.max(spherical.radius * zoom, 1), 120);
    const turned = new Vector3().setFromSpherical(spherical);
    this.camera.position.set(turned.x, -turned.z, turned.y).add(this.controls.target);
    this.controls.update();
    this.invalidate();
  }

  private placeCamera(): void {
    this.controls.enabled = this.cameraName === 'orbit';
    const actor = this.leadingActor();
    if (this.cameraName === 'chase' && actor) {
      const place = positionAt(new Vector3(), actor.flight, this.time);
      const direction = directionAt(new Vector3(), actor.flight, this.time, 0.9);
      direction.z *= 0.4;
      direction.normalize();
      this.camera.position.copy(place).addScaledVector(direction, -2.6);
      this.camera.position.z = Math.max(this.camera.position.z + 0.9, this.report.arena.min[2] + 0.2);
      this.camera.lookAt(place.addScaledVector(direction, 1.5));
    } else if (this.cameraName === 'gate') {
      const gate = this.setting?.gates[this.gateIndex];
      if (!gate) return;
      const center = new Vector3(...gate.center);
      const normal = new Vector3(...gate.normal);
      this.camera.position.copy(center).addScaledVector(normal, -4.2);
      this.camera.position.z = Math.max(this.camera.position.z + 0.9, this.report.arena.min[2] + 0.3);
      this.camera.lookAt(center);
    }
  }

  // ---- What is under the pointer ------------------------------------------------------------------

  /** The gate that a point of the view (px from its corner) means: the nearest whose ring is there. */
  gateAt(x: number, y: number): number | null {
    if (this.cameraName !== 'orbit' || !this.setting) return null;
    const { clientWidth: width, clientHeight: height } = this.host;
    const scale = height / 2 / Math.tan((this.camera.fov * Math.PI) / 360); // px of a metre, a metre away
    let best: { gate: number; distance: number } | null = null;
    this.setting.gates.forEach((gate, i) => {
      const center = new Vector3(...gate.center);
      const reach = (this.setting!.halfWidth / center.distanceTo(this.camera.position)) * scale;
      center.project(this.camera);
      const distance = Math.hypot(((center.x + 1) / 2) * width - x, ((1 - center.y) / 2) * height - y);
      if (center.z < 1 && distance < Math.max(reach, 16) && (!best || distance < best.distance)) best = { gate: i, distance };
    });
    return (best as { gate: number } | null)?.gate ?? null;
  }

  /** Where the line of sight through a point of the view meets a height. */
  pointAt(x: number, y: number, height: number): Vec3 | null {
    const seen = new Vector3((x / this.host.clientWidth) * 2 - 1, 1 - (y / this.host.clientHeight) * 2, 0.5);
    const from = this.camera.position;
    const direction = seen.unproject(this.camera).sub(from);
    const along = (height - from.z) / direction.z;
    return along > 0 ? [from.x + along * direction.x, from.y + along * direction.y, height] : null;
  }

  // ---- Drawing -----------------------------------------------------------------------------------

  private resize(): void {
    const width = Math.max(this.host.clientWidth, 1);
    const height = Math.max(this.host.clientHeight, 1);
    const before = this.camera.aspect;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height, false);
    if (this.cameraName === 'orbit' && Math.abs(before - this.camera.aspect) > 0.2) this.resetCamera();
    this.invalidate();
  }

  invalidate(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      // A drone is drawn at its size near by, and large enough to be seen from afar.
      for (const actor of this.actors) {
        const distance = actor.drone.position.distanceTo(this.camera.position);
        actor.drone.scale.setScalar(Math.min(Math.max(distance * 0.075, 1), 3));
      }
      this.renderer.render(this.scene, this.camera);
      this.host.dataset.frames = String(Number(this.host.dataset.frames ?? 0) + 1);
    });
  }
}

function fatLine(positions: number[], color: string, width: number, dash: string): Line2 {
  const geometry = new LineGeometry();
  geometry.setPositions(positions);
  const [on, off] = dash.split(/[ ,]+/).map(Number);
  const material = new LineMaterial({ color, linewidth: width, dashed: Boolean(on) });
  if (on) {
    const metres = 0.05; // of path for a pixel of the figures' dash pattern
    material.dashSize = on * metres;
    material.gapSize = (off || on) * metres;
  }
  const line = new Line2(geometry, material);
  line.computeLineDistances();
  line.frustumCulled = false;
  return line;
}

function discardChildren(parent: Object3D): void {
  for (const child of [...parent.children]) discard(child);
}

/** Takes an object off the stage and frees what it holds on the graphics card. */
function discard(object: Object3D): void {
  object.removeFromParent();
  object.traverse((part) => {
    if (part instanceof Sprite) {
      (part.material.map as Texture | null)?.dispose();
      part.material.dispose();
    } else if (part instanceof Mesh || part instanceof LineSegments) {
      part.geometry.dispose();
      (part.material as Material).dispose();
    }
  });
}
