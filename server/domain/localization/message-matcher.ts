import { lastLanguage, type MessageReference } from '#protocol/index.ts';
import type { Messages, Resources } from './message.ts';
import { TemplateIndex } from './template-index.ts';
import { TemplatePattern, truncationMark } from './template-pattern.ts';

/**
 * Finds the template and the params that a text came from, for one handler version. It never guesses: if two templates
 * of a language match, or a template matches in two ways, there is no result. English is tried first, because agents
 * that drop ids send all texts in English; the other languages are tried only if no English template matches. Matching
 * takes linear time for any text and any templates.
 */
export class MessageMatcher {
  readonly #resources: Resources;
  readonly #compiled = new Map<string, LanguageMatcher>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** Returns the message that this text came from; null if that is not certain. */
  match(text: string): Pick<MessageReference, 'id' | 'params'> | null {
    const line = withoutLineEnd(text);
    if (line.trim() === '') return null;
    const english = this.#find(lastLanguage, line);
    if (english !== null) return english === 'unclear' ? null : english;
    const found = new Map<string, MessageReference>();
    for (const lang of this.#resources.keys()) {
      const other = lang === lastLanguage ? null : this.#find(lang, line);
      if (other === 'unclear') return null;
      if (other !== null) found.set(JSON.stringify([other.id, other.params]), other);
    }
    const [only, another] = found.values();
    return another === undefined ? (only ?? null) : null;
  }

  #find(lang: string, line: string): MessageReference | 'unclear' | null {
    let matcher = this.#compiled.get(lang);
    if (matcher === undefined) {
      matcher = new LanguageMatcher(this.#resources.get(lang) ?? {});
      this.#compiled.set(lang, matcher);
    }
    return matcher.find(line);
  }
}

/** Minimum length of a fixed text that may arrive truncated; agents do not truncate shorter texts. */
const shortestCut = 900;

class LanguageMatcher {
  /** Ids of templates without placeholders, by text; null if two ids share a text. */
  readonly #fixed = new Map<string, string | null>();
  readonly #longFixed: string[] = [];
  readonly #patterns: TemplatePattern[] = [];
  readonly #index = new TemplateIndex();
  /** Index by the literals before the last placeholder. Built when the first truncated text arrives. */
  #cutIndex: TemplateIndex | undefined;

  constructor(messages: Messages) {
    for (const [id, template] of Object.entries(messages)) {
      const pattern = new TemplatePattern(id, withoutLineEnd(template));
      if (pattern.fixed !== null) {
        if (pattern.fixed.trim() === '') continue;
        this.#fixed.set(pattern.fixed, this.#fixed.has(pattern.fixed) ? null : id);
        if (pattern.fixed.length >= shortestCut) this.#longFixed.push(pattern.fixed);
      } else if (pattern.hasWords) {
        this.#patterns.push(pattern);
        this.#index.add(pattern, pattern.literals);
      }
    }
  }

  find(line: string): MessageReference | 'unclear' | null {
    return line.endsWith(truncationMark) ? this.#findCut(line) : this.#findWhole(line);
  }

  #findWhole(line: string): MessageReference | 'unclear' | null {
    const fixed = this.#fixed.get(line);
    if (fixed === null) return 'unclear';
    const candidates = this.#index.candidates(line);
    if (candidates === null) return 'unclear';
    let found: MessageReference | null = fixed === undefined ? null : { id: fixed, params: [] };
    for (const pattern of candidates) {
      const params = pattern.fit(line);
      if (params === null) continue;
      if (params === 'unclear' || found !== null) return 'unclear';
      found = { id: pattern.id, params };
    }
    return found;
  }

  /**
   * A truncated text can match only a template that ends with a placeholder. The last param keeps the truncation mark.
   */
  #findCut(line: string): MessageReference | 'unclear' | null {
    const seen = line.slice(0, -truncationMark.length);
    if (this.#longFixed.some((text) => text.startsWith(seen))) return 'unclear';
    if (this.#cutIndex === undefined) {
      this.#cutIndex = new TemplateIndex();
      for (const pattern of this.#patterns)
        if (pattern.hasWordsWhenCut) this.#cutIndex.add(pattern, pattern.cutLiterals);
    }
    const candidates = this.#cutIndex.candidates(seen);
    if (candidates === null) return 'unclear';
    let found: MessageReference | null = null;
    for (const pattern of candidates) {
      const params = pattern.fitCut(line);
      if (params === null) continue;
      if (params === 'unclear' || found !== null) return 'unclear';
      found = { id: pattern.id, params };
    }
    return found;
  }
}

/**
 * Removes line breaks at the end of a text, where handlers often add them. Uses a loop because a regular expression
 * would start over at each line break.
 */
function withoutLineEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return text.slice(0, end);
}
