// Plots of the side panel.

import { LivePlot } from '../plots';
import type { Energies, Frame } from '../protocol';
import { type Panel, section } from './panel';

const EVERY_MS = 120;

const ENERGIES: { name: keyof Energies; color: string }[] = [
  { name: 'kinetic', color: '--curve-1' },
  { name: 'elastic', color: '--curve-2' },
  { name: 'gravitational', color: '--curve-3' },
  { name: 'other', color: '--curve-4' },
  { name: 'total', color: '--text' },
];

export function curvesPanel(): Panel & { restyle(): void } {
  const energies = new LivePlot(
    'Energy',
    'J',
    ENERGIES.map(({ name, color }) => ({ label: name, color, read: (frame) => frame.energies?.[name] ?? null })),
  );
  const volume = new LivePlot('Volume ratio', '', [
    {
      label: 'volume / volume at rest',
      color: '--curve-1',
      read: ({ volume, rest_volume }) => (rest_volume > 0 ? volume / rest_volume : null),
    },
  ]);
  const plots = [energies, volume];
  const panel = section('Curves', false, ...plots.map((plot) => plot.element));
  panel.addEventListener('toggle', () => {
    for (const plot of plots) plot.draw();
  });
  let last = 0;
  return {
    element: panel,
    display() {
      for (const plot of plots) plot.clear();
    },
    frame(frame: Frame) {
      if (frame.energies) energies.add(frame);
      volume.add(frame);
      const now = performance.now();
      if (now - last < EVERY_MS && frame.playing) return;
      last = now;
      for (const plot of plots) plot.draw();
    },
    restyle() {
      for (const plot of plots) plot.restyle();
    },
  };
}
