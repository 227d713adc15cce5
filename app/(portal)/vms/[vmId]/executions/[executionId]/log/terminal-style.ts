/** The colors of a log. Each is a text color of the theme, which is readable on light and on dark pages. */
export type LogColor = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'grey';

export interface SpanStyle {
  /** Null for the default color. */
  color: LogColor | null;
  background: LogColor | null;
  isBold: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

export const unstyled: SpanStyle = {
  color: null,
  background: null,
  isBold: false,
  isItalic: false,
  isUnderlined: false,
};

/** The eight colors of terminals. Black and white become the default color, because either can be the background. */
const eight: readonly (LogColor | null)[] = [null, 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', null];

/** Limits the parameters of a sequence, as terminals do. */
const maxParameters = 32;

/** Returns the style after a sequence with these parameters, such as `1;31`. Ignores unknown attributes. */
export function styleAfter(style: SpanStyle, parameters: string): SpanStyle {
  const codes = parameters
    .slice(0, maxParameters * 4)
    .split(/[;:]/, maxParameters)
    .map((code) => (code === '' ? 0 : Number(code)));
  let next = style;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, used } = extendedColor(codes.slice(at + 1));
      next = code === 38 ? { ...next, color } : { ...next, background: color };
      at += used;
    } else next = withAttribute(next, code);
  }
  return next;
}

function withAttribute(style: SpanStyle, code: number): SpanStyle {
  if (code >= 30 && code <= 37) return { ...style, color: eight[code - 30] ?? null };
  if (code === 90) return { ...style, color: 'grey' };
  if (code > 90 && code <= 97) return { ...style, color: eight[code - 90] ?? null };
  if (code >= 40 && code <= 47) return { ...style, background: eight[code - 40] ?? null };
  if (code >= 100 && code <= 107) return { ...style, background: eight[code - 100] ?? 'grey' };
  switch (code) {
    case 0:
      return unstyled;
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, color: 'grey' };
    case 3:
      return { ...style, isItalic: true };
    case 4:
      return { ...style, isUnderlined: true };
    case 7:
      return { ...style, color: null, background: style.color ?? 'grey' };
    case 22:
      return { ...style, isBold: false, color: style.color === 'grey' ? null : style.color };
    case 23:
      return { ...style, isItalic: false };
    case 24:
      return { ...style, isUnderlined: false };
    case 27:
      return { ...style, color: style.background === 'grey' ? null : style.background, background: null };
    case 39:
      return { ...style, color: null };
    case 49:
      return { ...style, background: null };
    default:
      return style;
  }
}

/** Reads an indexed color (`5;n`) or an RGB color (`2;r;g;b`). `used` is the number of parameters. */
function extendedColor([form, ...rest]: readonly number[]): { color: LogColor | null; used: number } {
  if (form === 5) return { color: indexedColor(rest[0] ?? 0), used: 2 };
  if (form !== 2) return { color: null, used: 1 };
  const [red = 0, green = 0, blue = 0] = rest;
  return { color: nearest(red, green, blue), used: 4 };
}

/** Levels of red, green and blue in the cube of 6 × 6 × 6 colors. */
const levels = [0, 95, 135, 175, 215, 255];

function indexedColor(index: number): LogColor | null {
  if (index === 8) return 'grey';
  if (index < 16) return eight[index % 8] ?? null;
  if (index >= 232) return greyOf((index - 232) / 23);
  const at = (by: number) => levels[Math.floor((index - 16) / by) % 6] ?? 0;
  return nearest(at(36), at(6), at(1));
}

/** Medium gray becomes `grey`. Near black and near white become the default color. */
const greyOf = (lightness: number): LogColor | null => (lightness > 0.25 && lightness < 0.75 ? 'grey' : null);

/** The hue in degrees at which each color starts. */
const hues: readonly [from: number, color: LogColor][] = [
  [330, 'red'],
  [255, 'magenta'],
  [200, 'blue'],
  [160, 'cyan'],
  [75, 'green'],
  [20, 'yellow'],
  [0, 'red'],
];

/** Returns the color of the theme with the closest hue; for shades of gray, the result of `greyOf`. */
function nearest(red: number, green: number, blue: number): LogColor | null {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const range = most - least;
  if (range < 32) return greyOf((most + least) / 510);
  const sector =
    most === red ? (green - blue) / range : most === green ? 2 + (blue - red) / range : 4 + (red - green) / range;
  const hue = (sector * 60 + 360) % 360;
  return hues.find(([from]) => hue >= from)?.[1] ?? 'red';
}
