// Numbers for people: five digits, a power of ten only where it is needed.
export function number(x, digits = 5) {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e-4 && size < 1e6) return String(Number(x.toPrecision(digits)));
  const [mantissa, exponent] = x.toExponential(Math.max(0, digits - 2)).split('e');
  return `${Number(mantissa)}e${Number(exponent)}`;
}

export const vector = (v, digits = 4) => v.map((x) => number(x, digits)).join(', ');
