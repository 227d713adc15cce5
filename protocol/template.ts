import { utf8Bytes } from './limits.ts';

// Literal braces, then placeholders in the document's two spellings.
const token = /\{\{|\}\}|\{(\d{1,4})\}|<(\d{1,4})>/g;

/** Limit for placeholders in one template, counting each occurrence; registration rejects more. */
export const maxPlaceholders = 64;

/**
 * Fills `{0}` or `<0>` by index (AZ-L4). A placeholder without a param stays, `{{` and `}}` become braces, and params
 * are never expanded. Filling stops once the text is longer than `enough`: the rest would be cut off anyway.
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

/** The text, or as much of it as fits into that many bytes of UTF-8 with `…` at its end. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Bytes(text) <= maxBytes)) return text;
  const room = new Uint8Array(maxBytes - utf8Bytes(cutMark));
  return text.slice(0, new TextEncoder().encodeInto(text, room).read) + cutMark;
}

/** The parts of a template: `literals[0]`, the placeholder `indexes[0]`, `literals[1]`, … and a literal at the end. */
export interface TemplateParts {
  literals: string[];
  indexes: number[];
}

/** The text between a template's placeholders, with `{{` and `}}` as braces. */
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

/** Texts that look like placeholders and are left unchanged: `{0:D}`, `{0,10}`, `{name}`. */
export function rawPlaceholdersOf(template: string): string[] {
  // Literal braces and placeholders are read first, so that `{{0:D}}` is text.
  const lookalike = /\{\{|\}\}|\{\d{1,4}\}|\{(?:\s*\d[^{}]{0,60}|\s*[A-Za-z_]\w{0,60}\s*)\}/g;
  const found = [...template.matchAll(lookalike)].map(([text]) => text);
  return [...new Set(found)].filter((text) => !/^(?:\{\{|\}\}|\{\d{1,4}\})$/.test(text));
}

/** The indexes of a template's placeholders, ascending, each once. */
export function placeholdersOf(template: string): number[] {
  return [...new Set(partsOf(template).indexes)].toSorted((a, b) => a - b);
}
