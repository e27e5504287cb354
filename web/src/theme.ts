// Dark and light: the page's styles read an attribute of the root element, the scene reads a palette.

export type ThemeName = 'dark' | 'light';

/** Colours of what is drawn in three dimensions. */
export interface Palette {
  sky: string;
  grid: string;
  gridOpacity: number;
  wire: string;
  wireOpacity: number;
  accent: string;
  others: string;
  held: string;
  pinned: string;
}

const PALETTES: Record<ThemeName, Palette> = {
  dark: {
    sky: '#23272d',
    grid: '#8d98a6',
    gridOpacity: 0.34,
    wire: '#05070a',
    wireOpacity: 0.55,
    accent: '#ffb454',
    others: '#9aa3ae',
    held: '#e6e9ee',
    pinned: '#ff6b8b',
  },
  light: {
    sky: '#edf0f3',
    grid: '#5d6b7a',
    gridOpacity: 0.3,
    wire: '#10161d',
    wireOpacity: 0.5,
    accent: '#d4570a',
    others: '#6f7a86',
    held: '#1b2229',
    pinned: '#c2185b',
  },
};

const KEY = 'pliant-theme';

export class Theme {
  private chosen = localStorage.getItem(KEY) as ThemeName | null;
  private readonly system = matchMedia('(prefers-color-scheme: light)');
  private readonly listeners: ((palette: Palette) => void)[] = [];

  constructor() {
    this.system.addEventListener('change', () => this.apply());
    this.apply();
  }

  get name(): ThemeName {
    return this.chosen ?? (this.system.matches ? 'light' : 'dark');
  }

  get palette(): Palette {
    return PALETTES[this.name];
  }

  toggle(): void {
    this.chosen = this.name === 'dark' ? 'light' : 'dark';
    localStorage.setItem(KEY, this.chosen);
    this.apply();
  }

  /** Tells now and whenever it changes. */
  follow(listener: (palette: Palette) => void): void {
    this.listeners.push(listener);
    listener(this.palette);
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.name;
    for (const listener of this.listeners) listener(this.palette);
  }
}
