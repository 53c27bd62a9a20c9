// Numbers as people read them.

export const none = '—';

export function number(value: number | null, decimals: number | null): string {
  if (value === null) return none;
  const text = decimals === null ? String(value) : value.toFixed(decimals);
  return text.replace('-', '−');
}

export const metres = (value: number | null): string => (value === null ? none : `${trim(value)} m`);
export const seconds = (value: number): string => `${value.toFixed(1)} s`;
export const percent = (part: number, whole: number): string =>
  whole > 0 ? `${Math.round((100 * part) / whole)}\u00a0%` : none;

/** At most three decimals, without zeros at the end. */
const trim = (value: number): string => String(Number(value.toFixed(3)));

export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
