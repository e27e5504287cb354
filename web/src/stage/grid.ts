// The grid on planes: lines that fade out, every fifth stronger.

import { BufferGeometry, Color, Float32BufferAttribute, LineSegments, ShaderMaterial } from 'three';
import { niceStep } from '../format';

const SEGMENTS = 24;

/**
 * A grid in the plane z = 0. Lines and not a shader over a large plane, because that would cover the screen, which is
 * slow where there is no graphics card.
 */
export class Grid {
  readonly object: LineSegments;
  private readonly spacing: number;
  private readonly material: ShaderMaterial;

  constructor(size: number, reach: number) {
    this.spacing = niceStep(size / 10);
    const uniforms = {
      reach: { value: reach },
      shift: { value: [0, 0] },
      colour: { value: new Color() },
      opacity: { value: 1 },
    };
    this.material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms,
      transparent: true,
      depthWrite: false,
    });
    this.object = new LineSegments(lines(this.spacing, reach), this.material);
    this.object.frustumCulled = false;
  }

  /** Moves the lines to where they belong, whatever the middle of what is drawn: `place` is that of the middle. */
  anchor(place: { x: number; y: number }): void {
    const period = 5 * this.spacing;
    const rest = (value: number) => value - period * Math.floor(value / period);
    this.material.uniforms.shift.value = [-rest(place.x), -rest(place.y)];
  }

  paint(colour: string, opacity: number): void {
    this.material.uniforms.colour.value.set(colour);
    this.material.uniforms.opacity.value = opacity;
  }
}

/** Lines both ways, in pieces so that they can fade; the third number of a vertex says how strong its line is. */
function lines(spacing: number, reach: number): BufferGeometry {
  const count = Math.ceil(reach / spacing / 5) * 5 + 5;
  const far = count * spacing;
  const vertices: number[] = [];
  for (let i = -count; i <= count; i++) {
    const at = i * spacing;
    const strength = i % 5 === 0 ? 1 : 0.4;
    for (let k = 0; k < SEGMENTS; k++) {
      const from = far * ((2 * k) / SEGMENTS - 1);
      const to = far * ((2 * k + 2) / SEGMENTS - 1);
      vertices.push(at, from, strength, at, to, strength, from, at, strength, to, at, strength);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(vertices, 3));
  return geometry;
}

const VERTEX = `
uniform float reach;
uniform vec2 shift;
varying float vStrength;
void main() {
  vec2 place = position.xy + shift;
  float near = clamp(1.0 - length(place) / reach, 0.0, 1.0);
  vStrength = position.z * near * near;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 0.0, 1.0);
}`;

const FRAGMENT = `
uniform vec3 colour;
uniform float opacity;
varying float vStrength;
void main() {
  gl_FragColor = vec4(colour, opacity * vStrength);
  #include <colorspace_fragment>
}`;
