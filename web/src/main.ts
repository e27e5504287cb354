// Entry point of the page.

import { startPage } from './page';
import { TroubleBanner } from './panels/trouble';
import { Theme } from './theme';
import { probeGraphics } from './viewport/graphics';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/panels.css';
import './styles/messages.css';
import './styles/small.css';

const graphics = probeGraphics();
if (graphics === 'none') {
  new Theme();
  const banner = new TroubleBanner();
  banner.show('no-graphics');
  document.body.append(banner.element);
} else {
  startPage(graphics);
}
