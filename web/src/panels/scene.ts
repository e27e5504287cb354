// Keeping and undoing what was steered.

import { download, element } from '../dom';
import type { SavedScene, Send, Settings, Stage } from '../protocol';
import type { Panel } from './panel';

export function scenePanel(send: Send): Panel {
  const save = element('button', { type: 'button', onclick: () => send({ do: 'save' }) }, 'Save scene');
  const undo = element('button', { type: 'button', onclick: () => send({ do: 'undo-changes' }) }, 'Undo changes');
  save.title = 'Download the scene as TOML, with what was changed here';
  undo.title = 'Steer as the scene says again, and let go of what was pinned by hand';
  const buttons = element('div', { class: 'buttons' }, save, undo);
  return {
    element: buttons,
    stage(stage: Stage) {
      buttons.hidden = stage.mode === 'playback';
    },
    settings(settings: Settings) {
      undo.disabled = !settings.changed || settings.why_not !== null;
      save.disabled = settings.why_not !== null;
    },
  };
}

export function downloadScene({ name, text }: SavedScene): void {
  download(name, new Blob([text], { type: 'application/toml' }));
}
