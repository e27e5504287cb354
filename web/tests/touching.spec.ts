// Tools that act on bodies.

import { lowest, open, pointAt, settings, time, visiblePoint, waitForRest } from './support/page';
import { beam, CUBE } from './support/scenes';
import { expect, test } from './support/viewer';

test('a drag moves the point that was grabbed, letting go lets it swing back', async ({ page, view }) => {
  await open(page, await view(beam()));
  await waitForRest(page);
  const point = await visiblePoint(page);
  const pulls = () => page.evaluate(() => window.pliant.frame?.pulls ?? []);
  const height = async () => (await pointAt(page, point))[1];
  await page.mouse.move(point.x, point.y);
  await page.mouse.down();
  await page.mouse.move(point.x, point.y - 90, { steps: 3 });
  await expect.poll(async () => (await pulls()).length).toBe(1);
  const before = point.point[1];
  await expect.poll(height).toBeGreaterThan(before + 0.01);
  const [pull] = await pulls();
  expect(pull.mine).toBe(true);
  expect(pull.force[1]).toBeGreaterThan(0);
  expect(pull.target[1]).toBeGreaterThan(before);
  await expect(page.locator('.arrow-label')).toHaveText(/ [mk]?N$/);
  expect(await page.evaluate(() => window.pliant.latency)).toBeGreaterThan(0);
  await page.mouse.up();
  await expect.poll(async () => (await pulls()).length).toBe(0);
  await expect.poll(height).toBeLessThan(before + 0.004);
  await expect(page.locator('.arrow-label')).toBeHidden();
});

test('a drag next to the body turns the view and pulls nothing', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  const place = () => page.evaluate(() => window.pliant.project(0));
  const before = await place();
  await page.mouse.move(300, 480);
  await page.mouse.down();
  await page.mouse.move(380, 500, { steps: 3 });
  await page.mouse.up();
  expect(await place()).not.toEqual(before);
  expect(await page.evaluate(() => window.pliant.frame?.pulls.length)).toBe(0);
});

test('another tab follows, and sees who pulls', async ({ page, context, view }) => {
  const viewer = await view(beam());
  await open(page, viewer);
  const other = await context.newPage();
  await open(other, viewer);
  await expect.poll(() => other.evaluate(() => window.pliant.frame?.viewers)).toBe(2);
  // Browsers draw only the tab in front; the other continues when it is shown.
  await page.bringToFront();
  await waitForRest(page);
  const point = await visiblePoint(page);
  await page.mouse.move(point.x, point.y);
  await page.mouse.down();
  await page.mouse.move(point.x, point.y - 60, { steps: 3 });
  await expect.poll(() => page.evaluate(() => window.pliant.frame?.pulls.length)).toBe(1);
  await other.bringToFront();
  await expect.poll(() => other.evaluate(() => window.pliant.frame?.pulls.map((pull) => pull.mine))).toEqual([false]);
  const at = await time(other);
  await expect.poll(() => time(other)).toBeGreaterThan(at);
  await page.bringToFront();
  await expect.poll(async () => Math.abs((await time(page)) - (await time(other)))).toBeLessThan(1);
  await page.mouse.up();
});

test('pins fix vertices, and are released', async ({ page, view }) => {
  await open(page, await view(beam()));
  await waitForRest(page);
  const point = await visiblePoint(page);
  await page.getByRole('radio', { name: 'Pin' }).check();
  await page.mouse.click(point.x, point.y);
  await expect.poll(async () => (await settings(page))?.pins).toBeGreaterThan(0);
  // Pinned vertices stay in place under gravity.
  const pinned = await lowest(page);
  await page.getByText('Motion').click();
  await page.getByLabel('Downwards').fill('40');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await settings(page))?.gravity[1]).toBe(-40);
  const at = await time(page);
  await expect.poll(() => time(page)).toBeGreaterThan(at + 0.5);
  const withPin = await lowest(page);
  await page.getByRole('button', { name: 'Unpin all' }).click();
  await expect.poll(async () => (await settings(page))?.pins).toBe(0);
  await expect.poll(() => lowest(page)).toBeLessThan(withPin - 0.02);
  expect(withPin).toBeLessThanOrEqual(pinned);
});

test('a ball pushes, and goes with its tool', async ({ page, view }) => {
  await open(page, await view(beam()));
  await waitForRest(page);
  const point = await visiblePoint(page);
  const balls = () => page.evaluate(() => window.pliant.frame?.balls.map((ball) => ball.mine));
  await page.keyboard.press('4');
  await page.mouse.move(point.x, point.y);
  await page.mouse.down();
  await expect.poll(balls).toEqual([true]);
  const before = await pointAt(page, point);
  // Into the body, along the line of sight.
  for (let turn = 0; turn < 4; turn++) await page.mouse.wheel(0, -100);
  const moved = async () => Math.hypot(...(await pointAt(page, point)).map((x, i) => x - before[i]));
  await expect.poll(moved).toBeGreaterThan(0.005);
  await page.mouse.up();
  await page.keyboard.press('1');
  await expect.poll(balls).toEqual([]);
});

test('a free body is thrown', async ({ page, view }) => {
  await open(page, await view(CUBE, '--paused'));
  // Slowly, so that the flight is not missed.
  await page.getByLabel('Speed').selectOption('0.1×');
  const point = await visiblePoint(page);
  await page.keyboard.press('5');
  await page.mouse.move(point.x, point.y);
  await page.mouse.down();
  await page.mouse.move(point.x, point.y - 120, { steps: 3 });
  await expect(page.locator('.arrow-label')).toHaveText(/ m?m\/s$/);
  const before = await lowest(page, 2);
  await page.mouse.up();
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => lowest(page, 2), { intervals: [100] }).toBeGreaterThan(before + 0.04);
});
