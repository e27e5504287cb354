// Helpers to create and update elements.

type Attributes = Record<string, string | boolean | number | EventListener | undefined>;

/** Creates an element: `element('button', { class: 'x', onclick: f }, 'text', child)`. Attributes that are false or undefined are omitted. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      made.addEventListener(name.slice(2), value);
    } else if (value === true) {
      made.setAttribute(name, '');
    } else if (value !== false && value !== undefined) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...children);
  return made;
}

/** Sets the text only if it differs: every write makes the browser lay out the page again. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

let ids = 0;

/** Returns a unique id for an element that a label refers to. */
export function freshId(): string {
  ids += 1;
  return `field-${ids}`;
}

/** Offers a file for download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  element('a', { href: url, download: name }).click();
  // The download has started by then; immediate revocation would abort it in some browsers.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Returns a function that calls at once, then at most every `interval` ms, and always with the last arguments. */
export function throttle<A extends unknown[]>(interval: number, call: (...args: A) => void): (...args: A) => void {
  let waiting: A | null = null;
  let timer: number | undefined;
  const fire = () => {
    timer = undefined;
    if (waiting) {
      const args = waiting;
      waiting = null;
      timer = window.setTimeout(fire, interval);
      call(...args);
    }
  };
  return (...args) => {
    waiting = args;
    if (timer === undefined) fire();
  };
}
