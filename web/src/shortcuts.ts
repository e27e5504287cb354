// Keyboard shortcuts, active unless text is being typed.

export interface Shortcut {
  /** Value of `KeyboardEvent.key`. */
  key: string;
  /** Name of the key in the help. */
  shown: string;
  label: string;
  run(): void;
}

export function listen(shortcuts: Shortcut[]): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTaken(event)) return;
    const found = shortcuts.find(({ key }) => key === event.key || key === event.key.toLowerCase());
    if (!found) return;
    event.preventDefault();
    found.run();
  });
  // After a mouse click, Space should play instead of clicking the same control again.
  document.addEventListener('click', ({ target, detail }) => {
    const byPointer = detail > 0 && target instanceof Element;
    if (byPointer) target.closest<HTMLElement>('button, summary, [type="checkbox"], [type="radio"]')?.blur();
  });
}

/** Returns true if the focused element handles the key. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || target.closest('dialog')) return target instanceof HTMLElement && key !== '?';
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLInputElement) {
    if (target.type === 'text') return true;
    return key === ' ' && target.type !== 'range' && target.type !== 'radio';
  }
  return key === ' ' && (target instanceof HTMLButtonElement || target.tagName === 'SUMMARY');
}
