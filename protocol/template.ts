import { utf8Bytes } from './limits.ts';

// Matches literal braces and the two spellings of placeholders in the source document.
const token = /\{\{|\}\}|\{(\d{1,4})\}|<(\d{1,4})>/g;

/** Maximum number of placeholders in a template, counting each occurrence. Templates with more are rejected. */
export const maxPlaceholders = 64;

/**
 * Fills placeholders such as `{0}` or `<0>` by index (AZ-L4). A placeholder without a param stays, `{{` and `}}` become
 * braces, and placeholders in params are not filled. Stops once the text is longer than `enough`, because the rest
 * would be cut off anyway.
 */
export function fillTemplate(template: string, params: readonly string[], enough = Number.POSITIVE_INFINITY): string {
  let text = '';
  let end = 0;
  for (const { 0: found, 1: braced, 2: angled, index: at } of template.matchAll(token)) {
    const index = braced ?? angled;
    text += template.slice(end, at) + (index === undefined ? found.charAt(0) : (params[Number(index)] ?? found));
    end = at + found.length;
    if (text.length > enough) return text;
  }
  return text + template.slice(end);
}

const cutMark = '…';

/** Returns the text, cut to at most `maxBytes` of UTF-8 and ending with `…` if it was cut. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Bytes(text) <= maxBytes)) return text;
  const room = new Uint8Array(maxBytes - utf8Bytes(cutMark));
  return text.slice(0, new TextEncoder().encodeInto(text, room).read) + cutMark;
}

/** The parts of a template: `literals[0]`, the placeholder `indexes[0]`, `literals[1]`, … and a last literal. */
export interface TemplateParts {
  literals: string[];
  indexes: number[];
}

/** Splits a template at its placeholders; `{{` and `}}` become braces. */
export function partsOf(template: string): TemplateParts {
  const parts: TemplateParts = { literals: [], indexes: [] };
  let literal = '';
  let end = 0;
  for (const { 0: found, 1: braced, 2: angled, index: at } of template.matchAll(token)) {
    literal += template.slice(end, at);
    end = at + found.length;
    const index = braced ?? angled;
    if (index === undefined) literal += found.charAt(0);
    else {
      parts.literals.push(literal);
      parts.indexes.push(Number(index));
      literal = '';
    }
  }
  parts.literals.push(literal + template.slice(end));
  return parts;
}

/** Returns texts that look like placeholders but are not filled: `{0:D}`, `{0,10}`, `{name}`. */
export function rawPlaceholdersOf(template: string): string[] {
  // Literal braces and placeholders match first, so that `{{0:D}}` is text.
  const lookalike = /\{\{|\}\}|\{\d{1,4}\}|\{(?:\s*\d[^{}]{0,60}|\s*[A-Za-z_]\w{0,60}\s*)\}/g;
  const found = [...template.matchAll(lookalike)].map(([text]) => text);
  return [...new Set(found)].filter((text) => !/^(?:\{\{|\}\}|\{\d{1,4}\})$/.test(text));
}

/** Returns the indexes of a template's placeholders, ascending and without duplicates. */
export function placeholdersOf(template: string): number[] {
  return [...new Set(partsOf(template).indexes)].toSorted((a, b) => a - b);
}
