// The plots of the side panel.

import { LivePlot } from '../plots';
import type { Energies, Frame } from '../protocol';
import { type Panel, section } from './panel';

const EVERY_MS = 120;

const ENERGIES: { name: keyof Energies; colour: string }[] = [
  { name: 'kinetic', colour: '--curve-1' },
  { name: 'elastic', colour: '--curve-2' },
  { name: 'gravitational', colour: '--curve-3' },
  { name: 'other', colour: '--curve-4' },
  { name: 'total', colour: '--text' },
];

export function curvesPanel(): Panel & { restyle(): void } {
  const energies = new LivePlot(
    'Energy',
    'J',
    ENERGIES.map(({ name, colour }) => ({ label: name, colour, read: (frame) => frame.energies?.[name] ?? null })),
  );
  const volume = new LivePlot('Volume ratio', '', [
    {
      label: 'volume / volume at rest',
      colour: '--curve-1',
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
    stage() {
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
