// All tools, in the order of the toolbar and of their keys.

import { BallTool } from './ball';
import { LookTool } from './look';
import { PinTool } from './pin';
import { PullTool } from './pull';
import { ThrowTool } from './throw';
import type { Tool } from './tool';

export function makeTools(): Tool[] {
  return [new LookTool(), new PullTool(), new PinTool(), new BallTool(), new ThrowTool()];
}
