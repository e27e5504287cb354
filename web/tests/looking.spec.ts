// Display of the scene.

import { readFileSync } from 'node:fs';
import { difference, isBodyBlue, isBodyOrange, open, pixels, share } from './support/page';
import { beam, CUBE, dropped, TWO } from './support/scenes';
import { expect, test } from './support/viewer';

test('the page loads, and the body is on the screen', async ({ page, view }) => {
  await open(page, await view(beam()));
  await expect(page.getByRole('heading', { name: 'A small beam' })).toBeVisible();
  await expect(page).toHaveTitle(/A small beam/);
  const shown = await pixels(page);
  const part = share(shown, isBodyBlue);
  expect(part).toBeGreaterThan(0.02);
  expect(part).toBeLessThan(0.4);
  const [x, y] = await page.evaluate(() => {
    const { positions, project } = window.pliant;
    const middle = positions().length / 6;
    return project(Math.floor(middle));
  });
  expect(x > 0 && x < 900 && y > 0 && y < 600).toBe(true);
});

for (const [name, scene, axis, least] of [
  // It falls 0.6 m, three times its height.
  ['one that falls deep', dropped(0.6), 1, 200],
  ['two side by side', TWO, 0, 300],
] as const) {
  test(`the first view has the bodies and the place where they fall: ${name}`, async ({ page, view }) => {
    await open(page, await view(scene, '--paused'));
    const [free, places] = await page.evaluate(() => {
      const { display, projectPoint } = window.pliant;
      const [low, high] = display?.view ?? [
        [0, 0, 0],
        [0, 0, 0],
      ];
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) =>
        projectPoint([i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]]),
      );
      const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
      return [{ left: box('.tools').right, right: box('.side').left, bottom: box('.transport').top }, corners];
    });
    const along = places.map((place) => place[axis]);
    expect(Math.max(...along) - Math.min(...along)).toBeGreaterThan(least);
    for (const [x, y] of places) {
      expect(x > free.left && x < free.right && y > 0 && y < free.bottom, `${x}, ${y}`).toBe(true);
    }
  });
}

test('every body has its color, as in pictures', async ({ page, view }) => {
  await open(page, await view(TWO, '--paused'));
  const colors = await page.evaluate(() => window.pliant.display?.bodies.map(({ color }) => color));
  expect(colors).toEqual(['#0072b2', '#d55e00']);
  const shown = await pixels(page);
  expect(share(shown, isBodyBlue)).toBeGreaterThan(0.01);
  expect(share(shown, isBodyOrange)).toBeGreaterThan(0.01);
  await expect(page.getByRole('list', { name: 'Bodies' }).getByRole('listitem')).toHaveText(['left', 'right']);
});

for (const [width, height] of [
  [844, 390],
  [667, 375],
]) {
  test(`on a phone on its side, ${width} by ${height}, panels leave the canvas free`, async ({ page, view }) => {
    await page.setViewportSize({ width, height });
    await open(page, await view(beam(), '--paused'));
    // The part of the window where the canvas can be touched.
    const free = () =>
      page.evaluate(() => {
        let count = 0;
        for (let i = 0; i < 40; i++) {
          for (let k = 0; k < 20; k++) {
            const at = document.elementFromPoint(((i + 0.5) / 40) * innerWidth, ((k + 0.5) / 20) * innerHeight);
            if (at?.tagName === 'CANVAS') count += 1;
          }
        }
        return count / 800;
      });
    expect(await free()).toBeGreaterThan(0.6);
    // All controls are on the screen, and none lies on another.
    const boxes = await page.evaluate(() =>
      ['.title-card', '.view-buttons', '.tools', '.transport'].map((selector) => {
        const { left, right, top, bottom } = document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
        return { selector, left, right, top, bottom };
      }),
    );
    for (const [i, a] of boxes.entries()) {
      expect(a.left >= 0 && a.right <= width && a.top >= 0 && a.bottom <= height, a.selector).toBe(true);
      for (const b of boxes.slice(i + 1)) {
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        expect(apart, `${a.selector} and ${b.selector}`).toBe(true);
      }
    }
    await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeGreaterThan(0.01);
    await page.getByRole('button', { name: 'Panel' }).click();
    await expect(page.getByLabel('Color', { exact: true })).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('button', { name: 'Play' })).toBeInViewport({ ratio: 1 });
    expect(await free()).toBeGreaterThan(0.3);
  });
}

test('colors show values, with a legend', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  const plain = await pixels(page);
  const legend = page.locator('.legend');
  await expect(legend).toBeHidden();
  await page.getByLabel('Color', { exact: true }).selectOption('displacement');
  await expect(legend).toBeVisible();
  await expect(legend).toHaveAttribute('aria-label', /displacement from .* to .* m/);
  expect(difference(plain, await pixels(page))).toBeGreaterThan(0.02);
  await page.getByLabel('Color', { exact: true }).selectOption('volume-ratio');
  await expect(legend).toHaveAttribute('aria-label', /volume/);
  await page.getByLabel('Color', { exact: true }).selectOption('none');
  await expect(legend).toBeHidden();
  expect(difference(plain, await pixels(page))).toBeLessThan(0.02);
});

test('a slice cuts the body open, and can be turned and moved', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  const whole = share(await pixels(page), isBodyBlue);
  await page.getByRole('button', { name: 'Slice' }).click();
  const place = page.getByLabel('At', { exact: true });
  await expect(place).toHaveValue(/30\d? mm|0\.3 m|300 mm/);
  await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeLessThan(0.85 * whole);
  const half = share(await pixels(page), isBodyBlue);
  await place.fill('10 kg');
  await place.press('Enter');
  await expect(place).toHaveAttribute('aria-invalid', '');
  await place.fill('10 cm');
  await place.press('Enter');
  await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeLessThan(0.85 * half);
  await page.getByLabel('Flip').check();
  await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeGreaterThan(1.1 * half);
  await page.keyboard.press('c');
  await expect(place).toBeHidden();
  await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeGreaterThan(0.95 * whole);
});

test('dark and light follow the system until one is chosen, which is remembered', async ({ page, view }) => {
  const viewer = await view(CUBE, '--paused');
  await page.emulateMedia({ colorScheme: 'light' });
  await open(page, viewer);
  const corner = async () => (await pixels(page)).data[0];
  const theme = page.locator('html');
  await expect(theme).toHaveAttribute('data-theme', 'light');
  expect(await corner()).toBeGreaterThan(180);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(theme).toHaveAttribute('data-theme', 'dark');
  await expect.poll(corner).toBeLessThan(80);
  await page.getByRole('button', { name: 'Dark or light' }).click();
  await expect(theme).toHaveAttribute('data-theme', 'light');
  await open(page, viewer);
  await expect(theme).toHaveAttribute('data-theme', 'light');
});

test('a picture of the canvas can be saved', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  await page.getByLabel('Color', { exact: true }).selectOption('von-mises');
  await expect(page.locator('.legend')).toBeVisible();
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Picture' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe('a-small-beam.png');
  const bytes = readFileSync(await download.path());
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([900, 600]);
  // An empty canvas makes a file of one or two kilobytes.
  expect(bytes.length).toBeGreaterThan(6000);
});

test('the canvas follows the size of the window, down to phones', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  for (const [width, height] of [
    [1200, 700],
    [390, 760],
  ]) {
    await page.setViewportSize({ width, height });
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(() => page.locator('canvas.scene').evaluate((canvas) => canvas.clientWidth)).toBe(width);
    await expect.poll(async () => share(await pixels(page), isBodyBlue)).toBeGreaterThan(0.01);
    await expect(page.getByRole('button', { name: 'Play' })).toBeInViewport({ ratio: 1 });
  }
  // On a phone the panel is a sheet that is shown on request.
  await page.getByRole('button', { name: 'Panel' }).click();
  await expect(page.getByLabel('Color', { exact: true })).toBeHidden();
  await page.getByRole('button', { name: 'Panel' }).click();
  await expect(page.getByLabel('Color', { exact: true })).toBeInViewport({ ratio: 1 });
});

test('axes, edges, fit, tools and help have keys', async ({ page, view }) => {
  await open(page, await view(CUBE, '--paused'));
  const before = await pixels(page);
  await page.getByRole('button', { name: 'View from +x' }).click();
  await expect.poll(async () => difference(before, await pixels(page))).toBeGreaterThan(0.01);
  await page.keyboard.press('w');
  await expect(page.getByLabel('Edges', { exact: true }).and(page.getByRole('checkbox'))).toBeChecked();
  await page.keyboard.press('3');
  await expect(page.getByRole('radio', { name: 'Pin' })).toBeChecked();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Play or pause');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
});
