/** Shorter values are words of every day; hiding them would only make output unreadable. */
const minCharacters = 6;
const sign = Buffer.from('[masked]');

/**
 * What must not be seen of decrypted settings: every value, each line of a longer text, also as JSON spells it, and what
 * becomes of these in base64.
 */
export function maskedTexts(settings: unknown): string[] {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) visit(each);
    else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      for (const line of [text, text.trim(), ...text.split(/\r?\n/)]) {
        texts.add(line);
        texts.add(JSON.stringify(line).slice(1, -1));
      }
    }
  };
  visit(settings);
  const hidden = [...texts].filter((text) => text.trim().length >= minCharacters);
  return [...new Set([...hidden, ...hidden.flatMap(base64Of)])];
}

/**
 * A text in base64: by itself, and within something longer, where it looks in three ways and its first and last
 * characters depend on what is beside it. A line break within it is not foreseen.
 */
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const within = [0, 2, 3].map((first, before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return encoded.slice(first, (before + bytes.length) % 3 === 0 ? undefined : -1);
  });
  const alone = bytes.toString('base64');
  return [alone, alone.replace(/=+$/, ''), ...within].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** Of JSON, what says which words these are, and not what a person is told. */
const words = new Set(['status', 'version', 'timestamputc', 'lang', 'id']);

/** The same document without these texts in what it tells people. */
export function maskedDocument(document: unknown, texts: readonly string[]): unknown {
  if (texts.length === 0) return document;
  const visit = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return words.has(key.toLowerCase()) ? value : maskedText(value, texts);
    if (Array.isArray(value)) return value.map((each) => visit(each, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, visit(each, name)]));
  };
  return visit(document);
}

function maskedText(text: string, texts: readonly string[]): string {
  if (!texts.some((each) => text.includes(each))) return text;
  const mask = new Mask(texts);
  return Buffer.concat([mask.push(Buffer.from(text, 'utf8')), mask.end()]).toString('utf8');
}

/** Replaces secrets in a stream of bytes, wherever the borders of its chunks are. */
export class Mask {
  private readonly secrets: Buffer[];
  private readonly longest: number;
  /** The end of what came so far, in which a secret may have begun. */
  private held: Buffer = Buffer.alloc(0);
  /** So many bytes at the start of `held` belong to a secret whose sign was given out. */
  private covered = 0;

  constructor(texts: readonly string[]) {
    this.secrets = texts.map((text) => Buffer.from(text, 'utf8'));
    this.longest = Math.max(1, ...this.secrets.map((secret) => secret.length));
  }

  /** So many bytes after a gap may be the rest of a secret. */
  get reach(): number {
    return this.longest - 1;
  }

  push(chunk: Buffer): Buffer {
    if (this.secrets.length === 0) return chunk;
    return this.take(Buffer.concat([this.held, chunk]), this.longest - 1);
  }

  end(): Buffer {
    return this.take(this.held, 0);
  }

  /** Gives out all but the last `keep` bytes. */
  private take(bytes: Buffer, keep: number): Buffer {
    const until = Math.max(0, bytes.length - keep);
    const parts: Buffer[] = [];
    let at = Math.min(this.covered, until);
    let covered = this.covered;
    for (const { start, end } of this.findIn(bytes)) {
      if (start >= until) break;
      if (start >= covered) {
        parts.push(bytes.subarray(Math.min(Math.max(at, covered), start), start), sign);
      }
      covered = Math.max(covered, end);
      at = Math.min(covered, until);
    }
    parts.push(bytes.subarray(at, until));
    this.held = Buffer.from(bytes.subarray(until));
    this.covered = Math.max(0, covered - until);
    return Buffer.concat(parts);
  }

  /** Where secrets are, in order; they may overlap. */
  private findIn(bytes: Buffer): { start: number; end: number }[] {
    const found: { start: number; end: number }[] = [];
    for (const secret of this.secrets) {
      for (let start = bytes.indexOf(secret); start >= 0; start = bytes.indexOf(secret, start + 1)) {
        found.push({ start, end: start + secret.length });
      }
    }
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  }
}
