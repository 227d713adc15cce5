import type { TemplatePattern } from './template-pattern.ts';

/**
 * Lengths of the pieces that templates are indexed by. Each template uses the greatest length that fits into its
 * longest literal.
 */
const sizes = [8, 3, 1] as const;
/** Maximum number of positions in a literal that are searched for a rare piece. */
const placesTried = 16;
/**
 * Maximum number of templates that a text is matched against. If more templates may match, the text counts as
 * unmatched.
 */
const maxCandidates = 64;

/**
 * Finds the templates that may match a text without trying all of them. Each template is indexed by one piece of its
 * longest literal, which a matching text must contain.
 */
export class TemplateIndex {
  readonly #all = new Set<TemplatePattern>();
  readonly #bySize = new Map<number, Map<string, TemplatePattern[]>>();

  /** Adds a template with these literals, at least one of which is not empty. */
  add(pattern: TemplatePattern, literals: readonly string[]): void {
    this.#all.add(pattern);
    const anchor = literals.reduce((longest, literal) => (literal.length > longest.length ? literal : longest));
    const size = sizes.find((each) => each <= anchor.length) ?? 1;
    const pieces = this.#bySize.get(size) ?? new Map<string, TemplatePattern[]>();
    this.#bySize.set(size, pieces);
    const places = anchor.length - size + 1;
    let best: { piece: string; others: number } | undefined;
    for (let at = 0; at < places; at += Math.ceil(places / placesTried)) {
      const piece = anchor.slice(at, at + size);
      const others = pieces.get(piece)?.length ?? 0;
      if (best === undefined || others < best.others) best = { piece, others };
    }
    const { piece = anchor } = best ?? {};
    const kept = pieces.get(piece);
    if (kept === undefined) pieces.set(piece, [pattern]);
    else kept.push(pattern);
  }

  /** Returns every template that may match this text, each once; null if there are too many. */
  candidates(text: string): ReadonlySet<TemplatePattern> | null {
    // With so few templates, trying all of them is cheaper than looking up pieces.
    if (this.#all.size <= maxCandidates) return this.#all;
    const found = new Set<TemplatePattern>();
    for (const [size, pieces] of this.#bySize) {
      for (let at = 0; at + size <= text.length; at++) {
        for (const pattern of pieces.get(text.slice(at, at + size)) ?? []) {
          found.add(pattern);
          if (found.size > maxCandidates) return null;
        }
      }
    }
    return found;
  }
}
