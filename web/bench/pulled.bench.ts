// Performance while pulling: steps per second, frames per second, and latency.

import { open, visiblePoint } from '../tests/support/page';
import { test } from '../tests/support/viewer';

/** Bar fixed at one end, five tetrahedra per cell. */
const bar = ([x, y, z]: number[], young: number, more = '') => `
[[object]]
mesh = { box = { size = [${0.02 * x}, ${0.02 * y}, ${0.02 * z}], cells = [${x}, ${y}, ${z}] } }
material = { law = "neo-hookean", young = ${young}, poisson = 0.45, density = 1000 }
${more}
[[fixed]]
vertices = "x-min"
[damping]
mass = 0.5
[simulation]
step = "1/60 s"
duration = 1
`;

/** Ball of 50,000 triangles embedded in a coarse mesh. */
const SKINNED = `
[[object]]
mesh = { ball = { radius = 0.25, across = 10 } }
skin = { mesh = { ball = { radius = 0.24, across = 126 } } }
material = { young = 2e5, poisson = 0.45, density = 1000 }
[[fixed]]
vertices = { box = { from = [-1, -1, -1], to = [1, -0.2, 1] } }
[simulation]
step = "1/60 s"
duration = 1
`;

const SECONDS = 6;

for (const [name, scene] of Object.entries({
  '13,000 tetrahedra, a bar': bar([26, 10, 10], 1e6),
  '13,000 tetrahedra, a plate': bar([52, 25, 2], 1e7),
  '50,000 triangles on a coarse ball': SKINNED,
})) {
  test(name, async ({ page, view }) => {
    await open(page, await view(scene));
    const display = await page.evaluate(() => window.pliant.display);
    const point = await visiblePoint(page);
    await page.mouse.move(point.x, point.y);
    await page.mouse.down();
    const before = await page.evaluate(() => [window.pliant.framesRendered, window.pliant.frame?.step ?? 0]);
    const began = performance.now();
    while (performance.now() - began < 1000 * SECONDS) {
      const angle = (performance.now() - began) / 300;
      await page.mouse.move(point.x + 60 * Math.sin(angle), point.y - 60 + 60 * Math.cos(angle));
    }
    const elapsed = (performance.now() - began) / 1000;
    const now = await page.evaluate(() => ({
      counts: [window.pliant.framesRendered, window.pliant.frame?.step ?? 0],
      latency: window.pliant.latency,
      updateMs: window.pliant.updateMs,
      stepMs: window.pliant.frame?.stats?.step_ms,
    }));
    await page.mouse.up();
    const [frames, steps] = now.counts.map((count, i) => (count - before[i]) / elapsed);
    console.log(
      `${name}: ${display?.bodies[0].triangles} triangles, ${display?.vertices} vertices, ${display?.elements} elements; ` +
        `${steps.toFixed(0)} steps/s at ${now.stepMs?.toFixed(1)} ms, ${frames.toFixed(0)} frames/s, ` +
        `latency ${now.latency?.toFixed(0)} ms, JavaScript ${now.updateMs.toFixed(1)} ms a frame`,
    );
  });
}
