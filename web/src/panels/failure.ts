// Tells that a step failed, and what can be done.

import { element } from '../dom';
import { quantity } from '../format';
import type { Failure, Frame, Send } from '../protocol';
import type { Panel } from './panel';

export function failureBanner(send: Send): Panel {
  let shown = '';
  const message = element('p');
  const halve = element('button', { type: 'button', class: 'primary', onclick: () => send({ do: 'halve-step' }) });
  const reset = element('button', { type: 'button', onclick: () => send({ do: 'reset' }) }, 'Reset');
  const banner = element(
    'div',
    { class: 'banner failure', role: 'alert', hidden: true },
    element('strong', {}, 'A step failed'),
    message,
    element('p', { class: 'quiet' }, 'The last good state is shown.'),
    element('div', { class: 'buttons' }, halve, reset),
  );
  const dismiss = element('button', { type: 'button' }, 'Dismiss');
  dismiss.addEventListener('click', () => {
    banner.hidden = true;
  });
  reset.after(dismiss);

  function show({ message: text, step }: Failure): void {
    message.textContent = text;
    halve.textContent = `Halve the step to ${quantity(step / 2, 's')} and go on`;
    banner.hidden = false;
  }

  return {
    element: banner,
    stage() {
      shown = '';
      banner.hidden = true;
    },
    frame({ failure, step }: Frame) {
      // Once dismissed, it stays away until another step fails.
      const key = failure ? `${step} ${failure.step} ${failure.message}` : '';
      if (key === shown) return;
      shown = key;
      if (failure) show(failure);
      else banner.hidden = true;
    },
  };
}
