// Tools, and the options of the current one.

import { element, freshId } from '../dom';
import type { Settings } from '../protocol';
import type { Tool } from '../tools/tool';
import type { Panel } from './panel';

export interface Toolbar extends Panel {
  choose(tool: Tool): void;
  /** Hides the hint of a tool that has been used. */
  used(): void;
}

export function toolbar(tools: Tool[], first: Tool, chosen: (tool: Tool) => void): Toolbar {
  let current = first;
  const title = element('strong');
  const hint = element('p');
  const reason = element('p', { class: 'why-not' });
  const options = element('div', { class: 'tool-options' }, title, hint, reason);
  let whyNot = new Map<Tool, string | null>();
  const known = new Set<Tool>();

  const buttons = new Map(
    tools.map((tool, i) => {
      const id = freshId();
      const radio = element('input', { type: 'radio', name: 'tool', id, value: tool.name, checked: tool === first });
      radio.addEventListener('change', () => choose(tool));
      const label = element('label', { for: id, title: `${tool.label} (${i + 1})` });
      label.innerHTML = tool.icon;
      label.append(element('span', {}, tool.label));
      return [tool, { radio, item: element('div', { class: 'tool' }, radio, label) }] as const;
    }),
  );

  function show(): void {
    const why = whyNot.get(current) ?? null;
    title.textContent = current.label;
    hint.textContent = current.hint;
    hint.hidden = known.has(current);
    options.hidden = known.has(current) && !current.options && why === null;
    reason.textContent = why ?? '';
    reason.hidden = why === null;
    options.replaceChildren(title, hint, ...(current.options ? [current.options] : []), reason);
  }

  function choose(tool: Tool): void {
    if (whyNot.get(tool)) return;
    current = tool;
    const button = buttons.get(tool);
    if (button) button.radio.checked = true;
    chosen(tool);
    show();
  }

  show();
  const bar = element('div', { class: 'tools', role: 'radiogroup', 'aria-label': 'Tool' });
  bar.append(...[...buttons.values()].map(({ item }) => item));
  return {
    element: element('div', { class: 'toolbar' }, bar, options),
    choose,
    used() {
      if (known.has(current)) return;
      known.add(current);
      show();
    },
    settings(settings: Settings) {
      whyNot = new Map(tools.map((tool) => [tool, tool.whyNot(settings)]));
      tools.forEach((tool, i) => {
        const button = buttons.get(tool);
        const why = whyNot.get(tool);
        if (!button) return;
        button.radio.disabled = Boolean(why);
        button.item.title = why ? `${tool.label}: ${why}` : `${tool.label} (${i + 1})`;
      });
      if (whyNot.get(current)) choose(tools[0]);
      show();
    },
  };
}
