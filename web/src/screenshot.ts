// Picture of the canvas, with the legend.

import { download } from './dom';
import type { Legend } from './legend';
import type { View } from './viewport/view';

export function screenshot(view: View, legend: Legend, title: string): void {
  const shown = view.picture();
  const picture = document.createElement('canvas');
  picture.width = shown.width;
  picture.height = shown.height;
  const context = picture.getContext('2d');
  if (!context) return;
  context.drawImage(shown, 0, 0);
  const scale = shown.width / view.width;
  context.scale(scale, scale);
  legend.drawInto(context, view.height);
  const name =
    title
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'pliant';
  picture.toBlob((blob) => {
    if (blob) download(`${name}.png`, blob);
  }, 'image/png');
}
