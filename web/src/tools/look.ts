// Tool that only moves the view.

import { ICONS } from '../icons';
import { Tool } from './tool';

export class LookTool extends Tool {
  readonly name = 'look';
  readonly label = 'Look';
  readonly icon = ICONS.look;
  readonly hint = 'Drag to turn, drag with the right button or two fingers to pan, use the wheel or pinch to zoom.';

  override whyNot(): null {
    return null;
  }
}
