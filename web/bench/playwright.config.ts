import { defineConfig } from '@playwright/test';
import tests from '../playwright.config';

export default defineConfig({
  ...tests,
  testDir: '.',
  testMatch: '*.bench.ts',
  outputDir: '../test-results',
  timeout: 180_000,
  // Small, because where there is no graphics card pixels are drawn by the cores that simulate.
  use: { ...tests.use, viewport: { width: 400, height: 300 } },
});
