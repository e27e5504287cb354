// Dark and light theme: styles depend on an attribute of the root element, the scene on a palette.

export type ThemeName = 'dark' | 'light';

/** Colors of the 3D scene. */
export interface Palette {
  sky: string;
  grid: string;
  gridOpacity: number;
  wire: string;
  wireOpacity: number;
  accent: string;
  others: string;
  fixed: string;
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
    fixed: '#e6e9ee',
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
    fixed: '#1b2229',
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

  /** Calls the listener now and after each change. */
  follow(listener: (palette: Palette) => void): void {
    this.listeners.push(listener);
    listener(this.palette);
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.name;
    for (const listener of this.listeners) listener(this.palette);
  }
}
