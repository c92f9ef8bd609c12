
// From values to places, and the round numbers that are written at an axis.

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw) || raw;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && found.length < 30; i++) found.push(i * step);
  return found.map((value) => Number(value.toPrecision(12)));
}

function powers(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) return ticks(low, high, 5).filter((value) => value > 0);
  const step = Math.ceil((last - first + 1) / 6);
  const found = [];
  for (let i = first; i <= last; i += step) found.push(10 ** i);
  return found;
}

function scale(values, from, to, logarithmic = false) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  if (low > high) [low, high] = [logarithmic ? 0.1 : 0, 1];
  if (low === high) {
    const room = logarithmic ? null : Math.abs(low) * 0.1 || 1;
    [low, high] = logarithmic ? [low / 2, high * 2] : [low - room, high + room];
  }
  const f = logarithmic ? Math.log10 : (value) => value;
  // Of halves the difference is finite wherever the values are.
  const a = f(low) / 2, span = f(high) / 2 - a;
  const at = (value) => from + ((f(value) / 2 - a) / span) * (to - from);
  at.low = low;
  at.high = high;
  at.ticks = (count) => logarithmic ? powers(low, high) : ticks(low, high, count);
  return at;
}
