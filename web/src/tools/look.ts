// Only turns the view.

import { ICONS } from '../icons';
import { Tool } from './tool';

export class LookTool extends Tool {
  readonly name = 'look';
  readonly label = 'Look';
  readonly icon = ICONS.look;
  readonly hint = 'Drag to turn, right drag or two fingers to move, wheel or pinch to zoom.';

  override whyNot(): null {
    return null;
  }
}
