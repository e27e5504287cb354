// Time, materials and failures.

import { readFileSync } from 'node:fs';
import { isPlaying, lowest, open, settings, time, visiblePoint, waitForRest } from './support/page';
import { beam, dropped, NOTED } from './support/scenes';
import { expect, run, test } from './support/viewer';

test('pause, step, reset and rewind', async ({ page, view }) => {
  await open(page, await view(beam()));
  await expect.poll(() => time(page)).toBeGreaterThan(0.5);
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect.poll(() => isPlaying(page)).toBe(false);
  const paused = await time(page);
  await page.getByRole('button', { name: 'Step' }).click();
  await expect.poll(() => time(page)).toBeCloseTo(paused + 1 / 60, 6);
  expect(await isPlaying(page)).toBe(false);
  // Back by the slider, to somewhere near the start.
  await page.getByRole('slider', { name: 'Time' }).fill('0.1');
  await expect.poll(() => time(page)).toBeLessThan(0.5 * paused);
  await page.keyboard.press('r');
  await expect.poll(() => time(page)).toBe(0);
  await page.keyboard.press(' ');
  await expect.poll(() => time(page)).toBeGreaterThan(0.1);
  await page.getByLabel('Speed').selectOption('0.1×');
  await expect.poll(() => page.evaluate(() => window.pliant.frame?.speed)).toBe(0.1);
});

test('a softer material sags more, and the scene that is saved says so', async ({ page, view }) => {
  await open(page, await view(beam()));
  await waitForRest(page);
  const stiff = await lowest(page);
  const young = page.getByLabel("Young's modulus", { exact: true });
  await expect(young).toHaveValue('400 kPa');
  await young.fill('0.15 MPa');
  await young.press('Enter');
  await expect.poll(async () => (await settings(page))?.materials[0].young).toBeCloseTo(150e3, 3);
  await expect(young).toHaveValue('150 kPa');
  await expect.poll(() => lowest(page)).toBeLessThan(stiff - 0.02);
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save scene' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toMatch(/\.toml$/);
  const toml = readFileSync(await download.path(), 'utf8');
  expect(toml).toMatch(/young\s*=\s*("150 kPa"|"0.15 MPa"|150000|1.5e5|150e3)/);
  await page.getByRole('button', { name: 'Undo changes' }).click();
  await expect.poll(async () => (await settings(page))?.materials[0].young).toBeCloseTo(400e3, 3);
  await expect.poll(() => lowest(page)).toBeGreaterThan(stiff - 0.005);
});

test('fields are not changed under the hands of the one who edits them', async ({ page, context, view }) => {
  const viewer = await view(beam(), '--paused');
  await open(page, viewer);
  const young = page.getByLabel("Young's modulus", { exact: true });
  await young.fill('123');
  const other = await context.newPage();
  await open(other, viewer);
  const poisson = other.getByLabel("Poisson's ratio", { exact: true });
  await poisson.fill('0.2');
  await poisson.press('Enter');
  await page.bringToFront();
  await expect(page.getByLabel("Poisson's ratio", { exact: true })).toHaveValue('0.2');
  await expect(young).toHaveValue('123');
  await young.press('Escape');
  await expect(young).toHaveValue('400 kPa');
  await young.fill('five');
  await young.press('Enter');
  await expect(young).toHaveAttribute('aria-invalid', '');
});

test('a field that refuses a value says why, and takes units as scenes do', async ({ page, view }) => {
  await open(page, await view(beam(), '--paused'));
  const young = page.getByLabel("Young's modulus", { exact: true });
  const reason = page.locator('.reason:visible');
  for (const [typed, why] of [
    ['5 cm', '`cm` does not measure a pressure'],
    ['five', 'expected a pressure such as "1 MPa"'],
    ['-3', "Young's modulus"],
  ]) {
    await young.fill(typed);
    await young.press('Enter');
    await expect(young).toHaveAttribute('aria-invalid', '');
    await expect(reason).toContainText(why);
    await expect(young).toHaveAccessibleDescription(await reason.innerText());
  }
  // It stays when the field is left, until it is edited or Escape brings the value back.
  await young.blur();
  await expect(young).toHaveValue('-3');
  await expect(reason).toBeVisible();
  await young.press('Escape');
  await expect(reason).toBeHidden();
  await expect(young).toHaveValue('400 kPa');
  // 1 psi is 6.895 kPa, a bare number is in the unit that is shown, a bare fraction in SI units.
  await young.fill('10 psi');
  await young.press('Enter');
  await expect(young).toHaveValue('68.95 kPa');
  await young.fill('70');
  await young.press('Enter');
  await expect(young).toHaveValue('70 kPa');
  await page.getByText('Motion', { exact: true }).click();
  const step = page.getByLabel('Time step', { exact: true });
  await step.fill('1/80');
  await step.press('Enter');
  await expect(step).toHaveValue('12.5 ms');
  await step.fill('0');
  await step.press('Enter');
  await expect(reason).toContainText('time step: expected more than 0');
  await step.press('Escape');
  // A refused choice is reverted.
  const integrator = page.getByLabel('Integrator', { exact: true });
  await integrator.selectOption('regularized');
  await expect(reason).toContainText('tetrahedra');
  await expect(integrator).toHaveValue('backward-euler');
});

test('a step that fails is explained, and every button that is offered helps', async ({ page, view }) => {
  await open(page, await view(dropped(2)));
  const banner = page.getByRole('alert').filter({ hasText: 'A step failed' });
  await expect(banner).toBeVisible();
  await expect(banner).toContainText('Each of these was tried, and the simulation continues with it:');
  await expect(banner.getByRole('button', { name: /stable-neo-hookean/ })).toBeVisible();
  await expect(banner.getByRole('button', { name: /inversion/ })).toBeVisible();
  // Dismissed, it comes back with the next failure.
  await banner.getByRole('button', { name: 'Dismiss' }).click();
  await expect(banner).toBeHidden();
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(banner).toBeVisible();
  const failed = await time(page);
  await banner.getByRole('button', { name: /stable-neo-hookean/ }).click();
  await expect.poll(() => time(page)).toBeGreaterThan(failed + 0.2);
  await expect(banner).toBeHidden();
  await expect(page.getByLabel('Law', { exact: true })).toHaveValue('stable-neo-hookean');
  // No card outlives its cause.
  await page.getByRole('button', { name: 'Undo changes' }).click();
  await page.getByRole('button', { name: 'Reset' }).first().click();
  await expect(banner).toBeVisible();
  await page.keyboard.press('r');
  await expect(banner).toBeHidden();
});

test('energy that appears pauses the simulation, and what is offered prevents it', async ({ page, view }) => {
  await open(page, await view(dropped(0.6)));
  const banner = page.getByRole('alert').filter({ hasText: 'Energy appeared' });
  await expect(banner).toBeVisible();
  await expect(banner).toContainText(
    'The simulation is paused. Each of these was tried, and the simulation continues with it:',
  );
  expect(await isPlaying(page)).toBe(false);
  // The step succeeded: another law is no remedy.
  await expect(banner.getByRole('button', { name: /law/ })).toBeHidden();
  const gained = await time(page);
  await banner.getByRole('button', { name: /backward-euler/ }).click();
  await expect.poll(() => time(page)).toBeGreaterThan(gained + 0.5);
  await expect(banner).toBeHidden();
  await page.getByText('Motion', { exact: true }).click();
  await expect(page.getByLabel('Integrator', { exact: true })).toHaveValue('backward-euler');
});

test('notes on the scene are a list that can be dismissed and opened again', async ({ page, view }) => {
  await open(page, await view(NOTED, '--paused'));
  const notes = page.getByRole('region', { name: 'Notes' });
  await expect(notes).toBeVisible();
  await expect(notes.getByRole('listitem').first()).toContainText('outside its mesh');
  await page.getByRole('button', { name: 'Dismiss notes' }).click();
  await expect(notes).toBeHidden();
  await page.getByRole('button', { name: /\d notes?$/ }).click();
  await expect(notes).toBeVisible();
});

test('a run that was made before is played back', async ({ page, view, folder }) => {
  const output = run(beam(), folder);
  await open(page, await view(output));
  await expect(page.getByText('playback')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'Pull' })).toBeDisabled();
  await expect(page.getByLabel("Young's modulus", { exact: true })).toBeHidden();
  const frames = await page.evaluate(() => window.pliant.display?.timeline?.frames);
  expect(frames).toBe(21);
  const start = await lowest(page);
  await page.getByRole('slider', { name: 'Time' }).fill('0.5');
  await expect.poll(() => time(page)).toBeCloseTo(0.5, 2);
  await expect(page.getByLabel('Simulated time')).toHaveText(/10 \/ 20 · 0\.50 s/);
  await expect.poll(() => lowest(page)).not.toBe(start);
});

test('a reduced model is shown and pulled, but not pinned', async ({ page, view }) => {
  await open(page, await view('scenes/reduced-throw.toml', '--paused'));
  await expect(page.getByText('live, reduced')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'Pin' })).toBeDisabled();
  await expect(page.getByRole('radio', { name: 'Pull' })).toBeEnabled();
  await expect(page.locator('.why-not').filter({ hasText: 'reduced' }).first()).toBeVisible();
  const point = await visiblePoint(page);
  await page.mouse.move(point.x, point.y);
  await page.mouse.down();
  await page.mouse.move(point.x, point.y + 80, { steps: 3 });
  await page.keyboard.press(' ');
  await expect.poll(() => time(page)).toBeGreaterThan(0.05);
  const pull = await page.evaluate(() => window.pliant.frame?.pulls[0]);
  expect(Math.hypot(...(pull?.force ?? []))).toBeGreaterThan(0);
  await page.mouse.up();
});

test('numbers and curves are shown', async ({ page, view }) => {
  await open(page, await view(beam()));
  await page.getByText('Numbers').click();
  await expect(page.locator('.numbers')).toContainText('frames/s');
  await expect(page.locator('.numbers')).toContainText(/\d hexahedra/);
  await expect(page.locator('.parts')).toContainText('solving');
  await page.getByText('Curves').click();
  await expect(page.locator('.plot canvas')).toHaveCount(2);
});
