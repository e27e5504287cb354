// Saves or undoes the changes of the scene.

import { download, element } from '../dom';
import type { DisplayScene, SavedScene, Send, Settings } from '../protocol';
import type { Panel } from './panel';

export function scenePanel(send: Send): Panel {
  const save = element('button', { type: 'button', onclick: () => send({ do: 'save' }) }, 'Save scene');
  const undo = element('button', { type: 'button', onclick: () => send({ do: 'undo-changes' }) }, 'Undo changes');
  save.title = 'Download the scene with its changes as TOML';
  undo.title = 'Restore the settings of the scene and release all pins';
  const buttons = element('div', { class: 'buttons' }, save, undo);
  return {
    element: buttons,
    display(display: DisplayScene) {
      buttons.hidden = display.mode === 'playback';
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
