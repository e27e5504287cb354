// Formatting and parsing of numbers with units.

const PREFIXES: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
  [1e-9, 'n'],
];

/** Returns true if a unit takes SI prefixes: on m³ they would be cubed, kg already has one, and 1/s has no place for one. */
function takesPrefix(unit: string): boolean {
  return /^[A-Za-z]+([/·].*)?$/.test(unit) && !unit.startsWith('kg');
}

/** Formats a number with `digits` significant digits, without an exponent where that stays readable. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    return `${minus(String(Number(mantissa)))}e${minus(String(Number(exponent)))}`;
  }
  return minus(String(Number(value.toPrecision(digits))));
}

const minus = (text: string) => text.replace('-', '−');

/** Returns the factor and the SI prefix for numbers of this magnitude. */
export function prefixFor(size: number, unit: string): [number, string] {
  if (!takesPrefix(unit) || size === 0 || !Number.isFinite(size)) return [1, ''];
  const rounded = Math.abs(size) * 1.0005;
  return PREFIXES.find(([factor]) => rounded >= factor) ?? [1e-9, 'n'];
}

/** Formats a quantity, as in `1.23 MPa`. */
export function quantity(value: number | null | undefined, unit: string, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const [factor, prefix] = prefixFor(value, unit);
  const shown = number(value / factor, digits);
  return unit ? `${shown} ${prefix}${unit}` : shown;
}

const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';

/**
 * Adds a unit to typed text, in the syntax of scenes. A number without a unit has the unit that was shown before, so that
 * `5` in place of `10 ms` means 5 ms. A fraction such as `1/60` without a unit is in SI units. A decimal comma counts as a
 * point.
 */
export function withUnit(typed: string, unit: string, shown: string): string {
  const plain = typed
    .trim()
    .replaceAll('−', '-')
    .replace(/^([+-]?\d*),(\d)/, '$1.$2');
  if (new RegExp(`^${NUMBER}$`, 'i').test(plain)) {
    const suffix = shown.replaceAll('−', '-').replace(new RegExp(`^${NUMBER}\\s*`, 'i'), '');
    return `${plain} ${suffix || unit}`.trim();
  }
  return new RegExp(`^${NUMBER}/${NUMBER}$`, 'i').test(plain) ? `${plain} ${unit}`.trim() : plain;
}

/** Returns about `count` round numbers between two. */
export function ticks(from: number, to: number, count: number): number[] {
  const step = niceStep((to - from) / count);
  if (!(step > 0)) return [from];
  const found: number[] = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; i++) {
    found.push(i * step);
  }
  return found;
}

/** Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

export function count(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', '\u202f');
}
