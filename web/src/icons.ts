// Icons of 20 × 20 pixels, with lines in the color of the text.

const icon = (paths: string) =>
  `<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

export const ICONS = {
  look: icon(
    '<path d="M2.5 10c2-3.7 4.5-5.5 7.5-5.5s5.5 1.8 7.5 5.5c-2 3.7-4.5 5.5-7.5 5.5s-5.5-1.8-7.5-5.5Z"/><circle cx="10" cy="10" r="2.5"/>',
  ),
  pull: icon('<circle cx="5" cy="15" r="2.2"/><path d="m7 13 8.5-8.5M10.5 4h5.5v5.5"/>'),
  pin: icon('<path d="M7 3h6l-.8 5 2.8 3H5l2.8-3Zm3 8v6"/>'),
  ball: icon('<circle cx="10" cy="10" r="6.5"/><path d="M6.5 8.5a4 4 0 0 1 2.5-2.3"/>'),
  throw: icon('<path d="M3 16c1-6 5-10 12-11m-4.5-2L15.5 5l-2.5 4.5"/><path d="M3 8h2.5M3 4.5h5"/>'),
  play: icon('<path d="M6 4v12l10-6Z" fill="currentColor"/>'),
  pause: icon('<path d="M6.5 4v12M13.5 4v12" stroke-width="3"/>'),
  step: icon('<path d="M5 4v12l8-6Z" fill="currentColor"/><path d="M15.5 4v12" stroke-width="2"/>'),
  reset: icon('<path d="M4.5 4v4.5H9"/><path d="M4.8 8.3A6 6 0 1 1 4 11"/>'),
  fit: icon('<path d="M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13"/><circle cx="10" cy="10" r="2.5"/>'),
  wireframe: icon('<path d="M10 2.5 16.5 6v8L10 17.5 3.5 14V6Zm0 7.5v7.5M10 10 3.5 6M10 10l6.5-4"/>'),
  slice: icon('<path d="M3 13.5 12.5 3l4.5 3.5L7.5 17Z"/><path d="M3 7v-3.5h3.5M17 13v3.5h-3.5"/>'),
  camera: icon('<path d="M3 6.5h3.5L8 4.5h4l1.5 2H17v9H3Z"/><circle cx="10" cy="10.8" r="2.6"/>'),
  theme: icon('<circle cx="10" cy="10" r="6.5"/><path d="M10 3.5v13a6.5 6.5 0 0 0 0-13Z" fill="currentColor"/>'),
  help: icon(
    '<circle cx="10" cy="10" r="7"/><path d="M8 8a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4"/><path d="M10 13.8v.1" stroke-width="2"/>',
  ),
  panel: icon('<rect x="3" y="4" width="14" height="12" rx="1.5"/><path d="M12.5 4v12"/>'),
  close: icon('<path d="m5.5 5.5 9 9M14.5 5.5l-9 9"/>'),
};

/** Creates a button that shows only an icon. */
export function iconButton(svg: string, label: string, key: string, press: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'icon';
  button.innerHTML = svg;
  button.setAttribute('aria-label', label);
  button.title = key ? `${label} (${key})` : label;
  button.addEventListener('click', press);
  return button;
}
