// Numbers as `mxprof_nb.view.numbers` writes them; a test compares the two.

const TIME_UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZE_UNITS = [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]];
const MINUTE_NS = 60e9;
const VAST = 1e15;
const DECIMALS = 3;

// Rounds halves to the even neighbour, as Python does, where `toFixed` goes up.
function fixed(number, digits) {
  const usual = number.toFixed(digits);
  const exact = number.toFixed(Math.min(digits + 40, 100));
  const cut = exact.indexOf(".") + (digits ? digits + 1 : 0);
  if (!/^\.?50*$/.test(exact.slice(cut)) || !/[13579]$/.test(usual)) return usual;
  return exact.slice(0, cut);
}

function grouped(text) {
  const [whole, rest] = text.split(".");
  const marked = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? marked : `${marked}.${rest}`;
}

function three(number) {
  if (number === 0) return "0";
  if (!(Math.abs(number) < VAST)) {
    if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
    return number.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2");
  }
  const rounded = (digits) => {
    if (digits >= 0) return Number(fixed(number, Math.min(digits, 100)));
    const unit = 10 ** -digits;
    return Number(fixed(number / unit, 0)) * unit;
  };
  const value = rounded(2 - magnitude(number));
  return grouped(value.toFixed(Math.min(Math.max(2 - magnitude(value), 0), 100)));
}

// Power of ten of the first digit; `log10` alone may miss it by a hair.
function magnitude(number) {
  return Number(Math.abs(number).toExponential().split("e")[1]);
}

function scaled(number, units) {
  const [name, factor] = units.find(([, factor]) => Math.abs(number) < 999.5 * factor) ?? units.at(-1);
  return `${factor === 1 && Number.isInteger(number) ? number : three(number / factor)} ${name}`;
}

function durationText(ns) {
  if (Math.abs(ns) < 10 * MINUTE_NS) return scaled(ns, TIME_UNITS);
  if (!(Math.abs(ns) < VAST * MINUTE_NS)) return `${three(ns / 1e9)} s`;
  const sign = ns < 0 ? "-" : "";
  const whole = Number(fixed(Math.abs(ns) / 1e9, 0));
  const [minutes, seconds] = [Math.floor(whole / 60), whole % 60];
  if (minutes < 60) return `${sign}${minutes} min ${seconds} s`;
  return `${sign}${grouped(String(Math.floor(minutes / 60)))} h ${minutes % 60} min`;
}

// The unit that fits a column of values, and how much of the given unit it is.
function scaleOf(values, unit) {
  const units = { ns: TIME_UNITS, B: SIZE_UNITS }[unit] ?? [[unit, 1]];
  const sizes = values.filter((value) => value && Number.isFinite(value)).map(Math.abs).sort((a, b) => a - b);
  if (!sizes.length) return units[0];
  const [middle, largest] = [sizes[sizes.length >> 1], sizes.at(-1)];
  return units.find(([, factor]) => middle < 999.5 * factor && largest < 999_500 * factor) ?? units.at(-1);
}

// A number of a column whose unit is so many of its own.
function inScale(number, factor) {
  if (factor === 1 && Number.isInteger(number) && Math.abs(number) < 1000) return String(number);
  const text = three(number / factor);
  if ((text.split(".")[1] ?? "").length <= DECIMALS || text.includes("e")) return text;
  const least = 10 ** -DECIMALS;
  if (Math.abs(number / factor) < least / 2) return number > 0 ? `<${least}` : `>-${least}`;
  return grouped(fixed(number / factor, DECIMALS));
}

function sizeText(bytes) {
  return scaled(bytes, SIZE_UNITS);
}

function valueText(number, unit) {
  if (unit === "B") return sizeText(number);
  if (unit === "ns") return durationText(number);
  const whole = Math.abs(number) < VAST && Number.isInteger(number);
  return `${whole ? grouped(String(number)) : three(number)} ${unit}`.trimEnd();
}

function countText(number, one = "", many = "") {
  const text = grouped(String(number));
  return one ? `${text} ${number === 1 ? one : many || `${one}s`}` : text;
}

function shareText(part) {
  if (part > 0 && part < 0.01) return "<1 %";
  if (part > 0.99 && part < 1) return ">99 %";
  return `${fixed(part * 100, 0)} %`;
}

function rangeText(begin, end, total) {
  const largest = Math.max(Math.abs(begin), Math.abs(end));
  const [name, factor] = TIME_UNITS.findLast(([, factor]) => largest >= 0.9995 * factor) ?? TIME_UNITS[0];
  const text = (time) => between(time / factor, (end - begin) / factor);
  return `${text(begin)} to ${text(end)} ${name} of ${durationText(total)}`;
}

// Three digits, or as many more as tell the ends of a narrow range apart.
function between(number, width) {
  if (number === 0) return "0";
  const finer = width > 0 ? 2 - magnitude(width) : 0;
  return grouped(fixed(number, Math.max(2 - magnitude(number), Math.min(finer, 6), 0)));
}

// Round times within a window, and how they are written; long runs are counted in hours.
function ticksOf(begin, end, most) {
  const units = [...TIME_UNITS, ["min", MINUTE_NS], ["h", 60 * MINUTE_NS]];
  const [unit, factor] = units.findLast(([, factor]) => Math.max(Math.abs(end), 1) >= 2 * factor) ?? units[0];
  const rough = Math.max((end - begin) / most, 1) / factor;
  const power = magnitude(rough);
  const steps = [power, power + 1].flatMap((power) => [1, 2, 5].map((k) => [k * 10 ** power, power]));
  const [step, of] = steps.find(([step]) => step >= rough * (1 - 1e-12));
  const stepNs = Math.max(Math.round(step * factor), 1);
  const found = [];
  for (let k = Math.ceil(begin / stepNs); k * stepNs <= end; k++) {
    found.push([k * stepNs, `${grouped(((k * stepNs) / factor).toFixed(Math.max(-of, 0)))} ${unit}`]);
  }
  return found;
}
