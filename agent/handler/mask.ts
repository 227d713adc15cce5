/** Minimum length of a masked text. Shorter texts may be common words: masking them would make output unreadable. */
const minCharacters = 6;
const sign = Buffer.from('[masked]');

/**
 * Returns the texts of decrypted settings to mask: every string and number, each line of a longer text, their
 * JSON-escaped forms, and their base64 forms. Omits short texts. Python escapes all non-ASCII characters in JSON.
 */
export function maskedTexts(settings: unknown): string[] {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) visit(each);
    else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      for (const line of [text, text.trim(), ...text.split(/\r?\n/)]) {
        texts.add(line);
        const escaped = JSON.stringify(line).slice(1, -1);
        texts.add(escaped);
        texts.add(asciiOf(escaped));
      }
    }
  };
  visit(settings);
  const hidden = [...texts].filter((text) => text.trim().length >= minCharacters);
  return [...new Set([...hidden, ...hidden.flatMap(base64Of)])];
}

/** Returns JSON text with all characters except ASCII escaped, as Python's `json` writes them. */
function asciiOf(escaped: string): string {
  return escaped.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Returns a text in base64: alone, and at each of the three offsets within a longer text, without the characters that
 * depend on the bytes around it.
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

/** JSON properties whose values are keywords, times or ids, so they are not masked. */
const words = new Set(['status', 'version', 'timestamputc', 'lang', 'id']);

/** Returns a document with these texts masked, except in the properties named in `words`. */
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

/** Returns a text with these texts masked. */
export function maskedText(text: string, texts: readonly string[]): string {
  const joined = text.replaceAll(/\r?\n/g, '');
  if (!texts.some((each) => text.includes(each) || joined.includes(each))) return text;
  const mask = new Mask(texts);
  return Buffer.concat([mask.push(Buffer.from(text, 'utf8')), mask.end()]).toString('utf8');
}

/** Minimum expected length of the lines of an encoded secret. `base64` writes 76 characters per line, `openssl` 64. */
const narrowest = 32;

/** Masks secrets in a stream of bytes, even across chunks and across line breaks within a secret, as in long base64. */
export class Mask {
  /** Secrets without line breaks; `texts` has the secrets with several lines. */
  private readonly lines: Buffer[] = [];
  private readonly texts: Buffer[] = [];
  private readonly known = new Set<string>();
  private longest = 0;
  /** The last bytes of the input so far, because a secret may begin in them. */
  private held: Buffer = Buffer.alloc(0);
  /** Number of bytes at the start of `held` that belong to a secret that was already replaced. */
  private covered = 0;

  constructor(texts: readonly string[]) {
    this.learn(texts);
  }

  /** Adds secrets that became known while the stream is being read. Bytes that were passed on stay as they are. */
  learn(texts: readonly string[]): void {
    for (const text of texts) {
      if (this.known.has(text)) continue;
      this.known.add(text);
      const secret = Buffer.from(text, 'utf8');
      (text.includes('\n') ? this.texts : this.lines).push(secret);
      this.longest = Math.max(this.longest, secret.length);
    }
  }

  /** Maximum number of bytes after a gap that may be the rest of a secret. */
  get reach(): number {
    return Math.max(0, this.longest - 1 + 2 * Math.ceil(this.longest / narrowest));
  }

  push(chunk: Buffer): Buffer {
    if (this.longest === 0) return chunk;
    const bytes = Buffer.concat([this.held, chunk]);
    const joined = new Joined(bytes);
    return this.take(bytes, joined, this.heldFrom(bytes, joined));
  }

  /**
   * Returns the position from which bytes are held back: the first one at which an incomplete secret may begin. All
   * bytes before it are passed on, so that a reader sees a line as soon as it is written.
   */
  private heldFrom(bytes: Buffer, joined: Joined): number {
    const starts = [
      ...this.texts.map((text) => beginningOf(text, bytes)),
      ...this.lines.map((line) => joined.from(beginningOf(line, joined.bytes), bytes.length)),
    ];
    // The last byte may be the first half of a CRLF, which can be within a secret.
    if (bytes.at(-1) === carriageReturn) {
      const before = joined.bytes.subarray(0, -1);
      starts.push(...this.lines.map((line) => joined.from(beginningOf(line, before), bytes.length)));
    }
    return starts.reduce((first, start) => Math.min(first, start), bytes.length);
  }

  end(): Buffer {
    return this.take(this.held, new Joined(this.held), this.held.length);
  }

  /** Returns everything before `until`, masked. */
  private take(bytes: Buffer, joined: Joined, until: number): Buffer {
    const parts: Buffer[] = [];
    let at = Math.min(this.covered, until);
    let covered = this.covered;
    for (const { start, end } of this.findIn(bytes, joined)) {
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

  /** Returns the positions of secrets, in order. They may overlap. */
  private findIn(bytes: Buffer, joined: Joined): { start: number; end: number }[] {
    const found = [
      ...this.texts.flatMap((text) => allOf(text, bytes)),
      ...this.lines.flatMap((line) => allOf(line, joined.bytes)).map(({ start, end }) => joined.place(start, end)),
    ];
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  }
}

function allOf(secret: Buffer, bytes: Buffer): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = bytes.indexOf(secret); start >= 0; start = bytes.indexOf(secret, start + 1)) {
    found.push({ start, end: start + secret.length });
  }
  return found;
}

/** Returns the first position at which the rest of `bytes` is an incomplete secret; the length of `bytes` if none. */
function beginningOf(secret: Buffer, bytes: Buffer): number {
  const last = bytes.at(-1);
  const [first = 0] = secret;
  for (let start = Math.max(0, bytes.length - secret.length + 1); ; start += 1) {
    start = bytes.indexOf(first, start);
    if (start < 0) return bytes.length;
    const length = bytes.length - start;
    if (secret[length - 1] === last && bytes.compare(secret, 0, length, start) === 0) return start;
  }
}

const [newLine, carriageReturn] = [0x0a, 0x0d];

/**
 * Bytes with line breaks removed. In a run of line breaks, only the first is removed, because an empty line ends a
 * block.
 */
class Joined {
  readonly bytes: Buffer;
  /** The original position of each byte. */
  private readonly places: Uint32Array;

  constructor(bytes: Buffer) {
    this.bytes = Buffer.alloc(bytes.length);
    this.places = new Uint32Array(bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      if (at > 0 && bytes[at - 1] !== newLine) {
        if (bytes[at] === newLine) continue;
        if (bytes[at] === carriageReturn && bytes[at + 1] === newLine) {
          at += 1;
          continue;
        }
      }
      this.bytes[length] = bytes[at] ?? 0;
      this.places[length] = at;
      length += 1;
    }
    this.bytes = this.bytes.subarray(0, length);
  }

  /** Returns the original position of the byte at `index`; `otherwise` if there is none. */
  from(index: number, otherwise = 0): number {
    return index < this.bytes.length ? (this.places[index] ?? otherwise) : otherwise;
  }

  place(start: number, end: number): { start: number; end: number } {
    return { start: this.from(start), end: this.from(end - 1) + 1 };
  }
}
