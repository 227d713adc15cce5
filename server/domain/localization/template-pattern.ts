import { partsOf } from '#protocol/template.ts';

/** If a text is too long, the stock agent replaces the end of the text with this mark. */
export const truncationMark = ' ... [TRUNCATED]';

const leastLetters = 2;
const letter = /[\p{L}\p{N}]/gu;

/** A template that texts are matched against. */
export class TemplatePattern {
  readonly id: string;
  /** The whole text of a template that has no placeholders; otherwise null. */
  readonly fixed: string | null;
  readonly literals: readonly string[];
  /** The literals, with the last literal replaced by an empty string, because truncation may have removed it. */
  readonly cutLiterals: readonly string[];
  readonly #indexes: readonly number[];
  /**
   * Whether the template uses every param up to its highest param. Other languages may use a param that this template
   * omits.
   */
  readonly #isComplete: boolean;

  constructor(id: string, template: string) {
    const { literals, indexes } = partsOf(template);
    this.id = id;
    this.literals = literals;
    this.cutLiterals = [...literals.slice(0, -1), ''];
    this.fixed = indexes.length === 0 ? (literals[0] ?? '') : null;
    this.#indexes = indexes;
    this.#isComplete = new Set(indexes).size === Math.max(...indexes, -1) + 1;
  }

  /** Whether the template has words. `{0}: {1}` has none: it would match too many texts, and needs no translation. */
  get hasWords(): boolean {
    return hasWords(this.literals);
  }

  get hasWordsWhenCut(): boolean {
    return hasWords(this.cutLiterals);
  }

  /**
   * Returns the params with which the template produces this text; null if the text does not match, `unclear` if
   * several sets of params match or the template omits a param.
   */
  fit(text: string): string[] | 'unclear' | null {
    return this.#paramsOf(text, this.literals);
  }

  /** Like `fit`, for a text that ends with the truncation mark. */
  fitCut(text: string): string[] | 'unclear' | null {
    const params = this.#paramsOf(text, this.cutLiterals);
    // If the template ends with a literal, the last param is uncertain, because it may contain the beginning of that
    // literal.
    return params !== null && this.literals.at(-1) !== '' ? 'unclear' : params;
  }

  #paramsOf(text: string, literals: readonly string[]): string[] | 'unclear' | null {
    const starts = leftmostPositions(text, literals);
    if (starts === null) return null;
    if (starts.length > 2 && !isOnlyWay(text, literals, starts)) return 'unclear';
    const params: string[] = [];
    for (const [place, index] of this.#indexes.entries()) {
      const param = text.slice((starts[place] ?? 0) + (literals[place] ?? '').length, starts[place + 1]);
      if (params[index] !== undefined && params[index] !== param) return null;
      params[index] = param;
    }
    return this.#isComplete ? params : 'unclear';
  }
}

function hasWords(literals: readonly string[]): boolean {
  let letters = 0;
  for (const literal of literals) letters += literal.match(letter)?.length ?? 0;
  return letters >= leastLetters;
}

/** Returns the leftmost position of each literal; null if they do not match. */
function leftmostPositions(text: string, literals: readonly string[]): number[] | null {
  const first = literals[0] ?? '';
  const last = literals.at(-1) ?? '';
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return null;
  const starts = [0];
  let from = first.length;
  for (const literal of literals.slice(1, -1)) {
    const at = indexOf(text, literal, from);
    if (at < 0 || at + literal.length > end) return null;
    starts.push(at);
    from = at + literal.length;
  }
  return [...starts, end];
}

/**
 * Whether the rightmost positions of the literals are the same as the leftmost positions, so that the match is unique.
 */
function isOnlyWay(text: string, literals: readonly string[], starts: readonly number[]): boolean {
  const back = leftmostPositions(reversed(text), literals.map(reversed).reverse());
  if (back === null) return false;
  return literals.every(
    (literal, place) => starts[place] === text.length - literal.length - (back[literals.length - 1 - place] ?? 0),
  );
}

/** Reverses by code unit, because positions count code units. */
const reversed = (text: string): string => text.split('').reverse().join('');

const shortLiteral = 64;

/** `indexOf` in linear time: for a long literal, the built-in method may compare each position many times. */
function indexOf(text: string, literal: string, from: number): number {
  if (literal.length <= shortLiteral) return text.indexOf(literal, from);
  // Knuth–Morris–Pratt: for each prefix of the literal, the length of its longest border. A border is both a proper
  // prefix and a suffix.
  const borders = new Uint32Array(literal.length);
  for (let at = 1, matched = 0; at < literal.length; at++) {
    while (matched > 0 && literal[at] !== literal[matched]) matched = borders[matched - 1] ?? 0;
    if (literal[at] === literal[matched]) matched += 1;
    borders[at] = matched;
  }
  for (let at = from, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== literal[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === literal[matched]) matched += 1;
    if (matched === literal.length) return at - matched + 1;
  }
  return -1;
}
