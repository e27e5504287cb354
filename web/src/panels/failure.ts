// Banner for a failed step or a gain of energy, with remedies.

import { element, setText } from '../dom';
import type { Failure, Frame, Send } from '../protocol';
import type { Panel } from './panel';

export function failureBanner(send: Send): Panel & { hide(): void } {
  let shown = '';
  let dismissed = 0;
  let current = 0;
  const title = element('strong');
  const message = element('p');
  const advice = element('p', { class: 'quiet' });
  const choices = element('div', { class: 'choices' });
  const reset = element('button', { type: 'button', onclick: () => send({ do: 'reset' }) }, 'Reset');
  const dismiss = element('button', { type: 'button' }, 'Dismiss');
  const banner = element(
    'div',
    { class: 'banner failure', role: 'alert', hidden: true },
    title,
    message,
    advice,
    choices,
    element('div', { class: 'buttons' }, reset, dismiss),
  );
  dismiss.addEventListener('click', () => {
    dismissed = current;
    banner.hidden = true;
  });

  function show(failure: Failure): void {
    current = failure.number;
    setText(title, failure.is_gain ? 'Energy appeared' : 'A step failed');
    setText(message, failure.message);
    setText(advice, adviceFor(failure));
    choices.replaceChildren(
      ...failure.choices.map(({ label, command }, i) =>
        element('button', { type: 'button', class: i === 0 ? 'primary' : '', onclick: () => send(command) }, label),
      ),
    );
    banner.hidden = failure.number === dismissed;
  }

  function hide(): void {
    shown = '';
    banner.hidden = true;
  }

  return {
    element: banner,
    hide,
    display() {
      dismissed = 0;
      hide();
    },
    frame({ failure }: Frame) {
      if (!failure) {
        hide();
        return;
      }
      const key = JSON.stringify(failure);
      if (key === shown) return;
      shown = key;
      show(failure);
    },
  };
}

function adviceFor({ choices, is_trying, is_gain }: Failure): string {
  const state = is_gain ? 'The simulation is paused.' : 'The last valid state is shown.';
  if (is_trying) return `${state} Trying remedies …`;
  return choices.length > 0 ? `${state} Each of these was tried, and the simulation continues with it:` : state;
}
