// Message types of the protocol in crates/pliant-viewer/PROTOCOL.md.

export type Vec3 = [number, number, number];

/** Option of a choice in scenes. */
export interface ChoiceOption {
  name: string;
  about: string;
  default: unknown;
}

/** Option that is chosen by its name. */
export interface Choice {
  name: string;
  about: string;
  options: ChoiceOption[];
}

export interface Body {
  name: string;
  has_visual: boolean;
  regions: string[];
  first_vertex: number;
  vertices: number;
  first_triangle: number;
  triangles: number;
  first_edge: number;
  edges: number;
  free: boolean;
  /** `#rrggbb`, as in pictures and `.glb` files. */
  color: string;
}

export interface Coloring {
  name: string;
  label: string;
  unit: string;
}

export interface DisplayScene {
  title: string;
  about: string | null;
  version: string;
  mode: 'live' | 'playback';
  up: 'y' | 'z';
  origin: Vec3;
  size: number;
  /** Corners of the box that the first view shows. */
  view: [Vec3, Vec3] | null;
  reduced: number | null;
  vertices: number;
  elements: number;
  element_kind: string;
  bodies: Body[];
  regions: { body: number; name: string; color: string }[];
  laws: Choice[];
  inversions: Choice[];
  integrators: Choice[];
  solvers: Choice[];
  colors: Coloring[];
  pull: { stiffness: number };
  ball: { radius: number };
  timeline: { frames: number; interval: number } | null;
}

export interface DisplayArrays {
  rest: Float32Array;
  triangles: Uint32Array;
  triangle_regions: Uint32Array;
  edges: Uint32Array;
}

/** Treatment of inverted elements: the name of one of `inversions`. */
export type Inversion = string;

export interface Material {
  index: number;
  name: string;
  law: string | null;
  young: number | null;
  poisson: number | null;
  inversion: Inversion | null;
  density: number;
  why_not: string | null;
}

export interface Settings {
  revision: number;
  materials: Material[];
  step: number;
  integrator: string;
  solver: string | null;
  mass_damping: number;
  stiffness_damping: number;
  gravity: Vec3;
  pins: number;
  changed: boolean;
  why_not: string | null;
  why_no_pins: string | null;
  notes: string[];
}

export interface Stats {
  real_time: number;
  steps_per_second: number;
  step_ms: number;
  assembling_ms: number;
  solving_ms: number;
  rest_ms: number;
  newton: number;
  linear: number;
  factorizations: number;
  method: string;
  substeps: number;
}

export interface Energies {
  kinetic: number;
  elastic: number;
  gravitational: number;
  other: number;
  total: number;
}

export type Obstacle =
  | { kind: 'plane'; point: Vec3; normal: Vec3 }
  | { kind: 'ball'; center: Vec3; radius: number; hollow: boolean }
  | { kind: 'surface'; vertices: Vec3[]; triangles: [number, number, number][] };

/** Cutting plane: a point, and the normal toward the removed side. */
export interface SlicePlane {
  point: Vec3;
  normal: Vec3;
}

export interface PushBall {
  center: Vec3;
  radius: number;
  mine: boolean;
}

export interface Pull {
  point: Vec3;
  target: Vec3;
  force: Vec3;
  mine: boolean;
}

/** Button: its label, and the command that it sends. */
export interface RemedyChoice {
  label: string;
  command: Outgoing;
}

export interface Failure {
  number: number;
  message: string;
  is_gain: boolean;
  step: number;
  choices: RemedyChoice[];
  is_trying: boolean;
}

export interface Frame {
  number: number;
  time: number;
  step: number;
  playing: boolean;
  speed: number | null;
  span: [number, number];
  input: number;
  stats: Stats | null;
  energies: Energies | null;
  volume: number;
  rest_volume: number;
  obstacles: Obstacle[];
  balls: PushBall[];
  pulls: Pull[];
  failure: Failure | null;
  color: string | null;
  range: [number, number] | null;
  slice: SlicePlane | null;
  viewers: number;
}

export interface FrameArrays {
  positions: Float32Array;
  values?: Float32Array;
  fixed?: Float32Array;
  pinned?: Float32Array;
  slice_positions?: Float32Array;
  slice_triangles?: Uint32Array;
  slice_edges?: Uint32Array;
  slice_values?: Float32Array;
  slice_regions?: Uint32Array;
}

/** Reason why a command without `ask` was refused. */
export interface Notice {
  text: string;
}

/** Answer to a command with `ask`. */
export interface Answer {
  ask: number;
  value: number | null;
  error: string | null;
}

export interface SavedScene {
  name: string;
  text: string;
}

export type Incoming =
  | { type: 'display'; header: DisplayScene; arrays: DisplayArrays }
  | { type: 'settings'; header: Settings; arrays: object }
  | { type: 'frame'; header: Frame; arrays: FrameArrays }
  | { type: 'notice'; header: Notice; arrays: object }
  | { type: 'answer'; header: Answer; arrays: object }
  | { type: 'scene'; header: SavedScene; arrays: object };

export interface SurfacePoint {
  triangle: number;
  weights: Vec3;
}

export type Outgoing =
  | { do: 'seen'; number: number }
  | { do: 'view'; color: string; slice: SlicePlane | null }
  | { do: 'play' | 'pause' | 'step' | 'reset' }
  | { do: 'seek'; time: number }
  | { do: 'speed'; factor: number | null }
  | ({ do: 'grab'; pull: number; target: Vec3; stiffness: number; input: number } & SurfacePoint)
  | { do: 'drag'; pull: number; target: Vec3; stiffness: number; input: number }
  | { do: 'release'; pull: number }
  | ({ do: 'pin' | 'unpin'; radius: number } & SurfacePoint)
  | { do: 'unpin-all' }
  | { do: 'ball'; center: Vec3; radius: number }
  | { do: 'no-ball' }
  | { do: 'throw'; triangle: number; velocity: Vec3 }
  | ({ do: 'set-material'; index: number } & MaterialChange)
  | ({ do: 'set' } & MotionChange)
  | { do: 'remedy'; law?: string; inversion?: Inversion; integrator?: string; step?: number; from?: number }
  | { do: 'read'; length: string }
  | { do: 'undo-changes' | 'save' };

/** Number in SI units, or text with a unit as in scenes. */
export type Quantity = number | string;

export interface MaterialChange {
  law?: string;
  young?: Quantity;
  poisson?: Quantity;
  inversion?: Inversion;
}

export interface MotionChange {
  step?: Quantity;
  integrator?: string;
  solver?: string;
  mass_damping?: Quantity;
  stiffness_damping?: Quantity;
  gravity?: [Quantity, Quantity, Quantity];
}

export type Send = (message: Outgoing) => void;

/** Sends a command that is answered. */
export type Ask = (message: Outgoing) => Promise<Omit<Answer, 'ask'>>;

interface ArrayEntry {
  name: string;
  kind: 'f32' | 'u32';
  count: number;
}

const text = new TextDecoder();

/** Decodes a message. Its arrays are views of the buffer; nothing is copied. */
export function decode(buffer: ArrayBuffer): Incoming {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(text.decode(new Uint8Array(buffer, 4, length)));
  const arrays: Record<string, Float32Array | Uint32Array> = {};
  let offset = 4 + length;
  for (const { name, kind, count } of (header.arrays ?? []) as ArrayEntry[]) {
    arrays[name] = kind === 'f32' ? new Float32Array(buffer, offset, count) : new Uint32Array(buffer, offset, count);
    offset += 4 * count;
  }
  return { type: header.type, header, arrays } as unknown as Incoming;
}
