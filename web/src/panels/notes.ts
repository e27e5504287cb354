// Notes and warnings on the scene: a list that can be dismissed, and a badge that brings it back.

import { element } from '../dom';
import { ICONS, iconButton } from '../icons';
import type { Settings } from '../protocol';
import type { Panel } from './panel';

export interface NotesPanel extends Panel {
  /** Number of notes, for the title card. */
  readonly badge: HTMLButtonElement;
}

export function notesPanel(startsOpen: () => boolean): NotesPanel {
  let notes: string[] = [];
  let isOpen = false;
  const known = new Set<string>();
  const list = element('ul');
  const card = element(
    'section',
    { class: 'notes', 'aria-label': 'Notes', hidden: true },
    element(
      'div',
      { class: 'notes-head' },
      element('strong', {}, 'Notes'),
      iconButton(ICONS.close, 'Dismiss notes', '', () => open(false)),
    ),
    list,
  );
  const badge = element('button', { type: 'button', class: 'badge', hidden: true, onclick: () => open(!isOpen) });

  function open(now: boolean): void {
    isOpen = now;
    card.hidden = !isOpen || notes.length === 0;
    badge.hidden = notes.length === 0;
    badge.textContent = notes.length === 1 ? '1 note' : `${notes.length} notes`;
    badge.setAttribute('aria-expanded', String(!card.hidden));
  }

  return {
    element: card,
    badge,
    display() {
      known.clear();
      isOpen = false;
    },
    settings(settings: Settings) {
      const fresh = settings.notes.some((note) => !known.has(note));
      notes = settings.notes;
      for (const note of notes) known.add(note);
      list.replaceChildren(...notes.map((note) => element('li', {}, note)));
      // Dismissed notes stay hidden; new ones are shown.
      open(isOpen || (fresh && startsOpen()));
    },
  };
}
