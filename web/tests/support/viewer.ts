// Starts `pliant view`, and ends it with the test.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, expect } from '@playwright/test';

const ROOT = resolve(import.meta.dirname, '../../..');
const PLIANT = resolve(import.meta.dirname, '../..', process.env.PLIANT ?? '../target/debug/pliant');

export interface Viewer {
  /** With the token. */
  url: URL;
  process: ChildProcess;
}

interface Fixtures {
  /** An empty folder that is removed afterwards. */
  folder: string;
  /** Starts a viewer of a scene, given as TOML, as a path from the root of the repository, or as a folder of a run. */
  view(scene: string, ...options: string[]): Promise<Viewer>;
  /** Errors and warnings of the browser. Must be empty at the end, unless the test empties it. */
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'pliant-web-'));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },
  view: async ({ folder }, use) => {
    const started: ChildProcess[] = [];
    await use(async (scene, ...options) => {
      const viewer = await start(pathOf(scene, folder), options);
      started.push(viewer.process);
      return viewer;
    });
    for (const process of started) process.kill();
  },
  complaints: [
    async ({ context }, use) => {
      const complaints: string[] = [];
      context.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      context.on('weberror', (error) => complaints.push(String(error.error().stack)));
      context.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
      context.on('response', (response) => {
        if (!response.ok()) complaints.push(`${response.url()}: ${response.status()}`);
      });
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** `pliant run`, into a folder, and nothing else. */
export function run(scene: string, folder: string): string {
  const output = join(folder, 'run');
  execFileSync(PLIANT, ['run', pathOf(scene, folder), '--output', output], { stdio: 'pipe' });
  return output;
}

function pathOf(scene: string, folder: string): string {
  if (!scene.includes('\n')) return resolve(ROOT, scene);
  const path = join(folder, 'scene.toml');
  writeFileSync(path, scene);
  return path;
}

/** Waits until it has printed its address. */
function start(scene: string, options: string[]): Promise<Viewer> {
  const process = spawn(PLIANT, ['view', scene, '--no-browser', '--port', '0', ...options]);
  return new Promise((done, failed) => {
    let printed = '';
    const read = (text: Buffer) => {
      printed += text;
      const address = /http:\S+/.exec(printed);
      if (address) done({ url: new URL(address[0]), process });
    };
    process.stdout.on('data', read);
    process.stderr.on('data', read);
    process.on('error', failed);
    process.on('exit', (status) => failed(new Error(`pliant view ended with ${status}:\n${printed}`)));
  });
}
