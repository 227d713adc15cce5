/** A piece of a message for translators: text, a protected placeholder, or a character that XML cannot contain. */
export type InlinePart = { text: string } | { code: string; id: string } | { char: number };

const token = /\{\{|\}\}|\{\d{1,4}\}|<\d{1,4}>/g;
const placeholder = /^(?:\{(\d{1,4})\}|<(\d{1,4})>)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot contain these characters
const unfit = /([\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff])/;

/** Whether XML can contain the text unchanged. */
export const fitsXml = (text: string): boolean => !unfit.test(text);

/**
 * Splits a text into pieces. A placeholder has the same id in source and target: `p0`, or `p0.2` if it is used a second
 * time.
 */
export function piecesOf(text: string): InlinePart[] {
  const pieces: InlinePart[] = [];
  const seen = new Map<number, number>();
  const words = (part: string): void => {
    for (const [index, piece] of part.split(unfit).entries()) {
      if (piece === '') continue;
      pieces.push(index % 2 === 1 ? { char: piece.charCodeAt(0) } : { text: piece });
    }
  };
  let from = 0;
  for (const match of text.matchAll(token)) {
    const code = match[0];
    const number = numberOf(code);
    // `{{` and `}}` are escaped braces, not placeholders.
    if (number === null) continue;
    words(text.slice(from, match.index));
    const count = (seen.get(number) ?? 0) + 1;
    seen.set(number, count);
    pieces.push({ code, id: count === 1 ? `p${number}` : `p${number}.${count}` });
    from = match.index + code.length;
  }
  words(text.slice(from));
  return pieces;
}

function numberOf(code: string): number | null {
  const [, braced, angled] = placeholder.exec(code) ?? [];
  const digits = braced ?? angled;
  return digits === undefined ? null : Number(digits);
}

/**
 * Returns the placeholder of an inline element, from the text that the element shows or from the id that `piecesOf`
 * assigned; null if neither contains a placeholder.
 */
export function codeOf(shown: string | undefined, id: string | undefined): string | null {
  if (shown !== undefined && numberOf(shown) !== null) return shown;
  const number = /^p(\d{1,4})(?:\.\d+)?$/.exec(id ?? '')?.[1];
  return number === undefined ? null : `{${number}}`;
}

const nmtoken = /^[\p{L}\p{N}._:-]+$/u;
const packed = 'b64-';

/**
 * Converts a message id to a unit id. Encodes ids that XML cannot contain or, with `isName`, that are not valid name
 * tokens, and ids that already look encoded.
 */
export function unitIdOf(id: string, isName: boolean): string {
  const isPlain = !id.startsWith(packed) && (isName ? nmtoken.test(id) : fitsXml(id));
  return isPlain ? id : packed + Buffer.from(id).toString('base64url');
}

/** Converts a unit id back to the message id. */
export function messageIdOf(unitId: string): string {
  return unitId.startsWith(packed) ? Buffer.from(unitId.slice(packed.length), 'base64url').toString() : unitId;
}
