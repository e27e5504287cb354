import { defineConfig } from 'vite';

// The licenses ask that their notice stays with every copy; minifying would drop the one of uPlot.
const licenses = `/*!
 * Pliant | MIT OR Apache-2.0
 * three.js | Copyright 2010-2026 Three.js Authors | MIT
 * uPlot | Copyright (c) 2025 Leon Sorokin | MIT
 */`;

export default defineConfig({
  // The server puts the page at any address, so all paths are relative.
  base: './',
  esbuild: { legalComments: 'inline' },
  build: {
    outDir: '../crates/pliant-viewer/page/dist',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The policy of the server allows no inline scripts, and the page needs no preloading of its one chunk.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // three.js is most of it.
    chunkSizeWarningLimit: 900,
    rollupOptions: { output: { banner: licenses } },
  },
});
