import { jsonPointer } from '#protocol/pointer.ts';

export interface JsonFault {
  /** JSON pointer; empty for the whole text. */
  path: string;
  code:
    | 'json_too_large'
    | 'json_not_utf8'
    | 'json_malformed'
    | 'json_too_deep'
    | 'json_duplicate_key'
    | 'json_number'
    | 'json_character';
  params?: Record<string, number>;
}

interface ScanOptions {
  maxDepth: number;
  /**
   * Whether to accept large numbers and unstorable characters. If so, the offsets of unstorable escapes are collected.
   */
  repair: boolean;
}

export interface Scan {
  faults: JsonFault[];
  /** Offsets of `\uXXXX` escapes for NUL or a lone surrogate. */
  unstorable: number[];
}

/** An open array or object, and the current position in it. */
interface Level {
  /** Keys seen so far; null for an array. */
  keys: Set<string> | null;
  key: string | number;
}

const maxFaults = 100;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literals = ['true', 'false', 'null'];
const largest = 2 ** 53;

/**
 * Scans JSON text once, without recursion and without building values. Collects duplicate properties, large numbers and
 * unstorable characters with their paths. A syntax error or excessive nesting ends the scan and becomes the only fault.
 * Returns at most 100 faults.
 */
export function scanJson(text: string, options: ScanOptions): Scan {
  return new Scanner(text, options).run();
}

/** Thrown to end the scan early: after a syntax error, excessive nesting or `maxFaults` faults. */
class Stop extends Error {}

class Scanner {
  private readonly text: string;
  private readonly options: ScanOptions;
  private readonly faults: JsonFault[] = [];
  private readonly unstorable: number[] = [];
  private readonly levels: Level[] = [];
  private at = 0;

  constructor(text: string, options: ScanOptions) {
    this.text = text;
    this.options = options;
  }

  run(): Scan {
    try {
      this.document();
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
    }
    return { faults: this.faults, unstorable: this.unstorable };
  }

  /** Scans the whole text. The stack has a level for each open array or object that is not empty. */
  private document(): void {
    let expectsValue = true;
    for (;;) {
      if (expectsValue) expectsValue = this.value();
      const level = this.levels.at(-1);
      if (expectsValue) continue;
      this.space();
      if (level === undefined) {
        if (this.at < this.text.length) this.malformed();
        return;
      }
      const next = this.text[this.at];
      if (next === ',') {
        this.at++;
        if (level.keys === null) level.key = Number(level.key) + 1;
        else this.property(level);
        expectsValue = true;
      } else if (next === (level.keys === null ? ']' : '}')) {
        this.at++;
        this.levels.pop();
      } else {
        this.malformed();
      }
    }
  }

  /** Scans a scalar or opens a level. Returns whether a value must follow in the opened level. */
  private value(): boolean {
    this.space();
    const first = this.text[this.at];
    if (first === '{' || first === '[') return this.open(first);
    if (first === '"') this.string();
    else if (first !== undefined && (first === '-' || (first >= '0' && first <= '9'))) this.number();
    else {
      const literal = literals.find((word) => this.text.startsWith(word, this.at));
      if (literal === undefined) this.malformed();
      else this.at += literal.length;
    }
    return false;
  }

  private open(bracket: '{' | '['): boolean {
    if (this.levels.length >= this.options.maxDepth) this.stop('json_too_deep', { limit: this.options.maxDepth });
    this.at++;
    this.space();
    const object = bracket === '{';
    if (this.text[this.at] === (object ? '}' : ']')) {
      this.at++;
      return false;
    }
    const level: Level = { keys: object ? new Set() : null, key: 0 };
    this.levels.push(level);
    if (object) this.property(level);
    return true;
  }

  private property(level: Level): void {
    this.space();
    if (this.text[this.at] !== '"') this.malformed();
    const key = this.string();
    level.key = key;
    if (level.keys?.has(key)) this.fault('json_duplicate_key');
    level.keys?.add(key);
    this.space();
    if (this.text[this.at] !== ':') this.malformed();
    this.at++;
  }

  private number(): void {
    number.lastIndex = this.at;
    const token = number.exec(this.text)?.[0];
    if (token === undefined) this.malformed();
    this.at += token.length;
    if (!this.options.repair && isRounded(token)) this.fault('json_number');
  }

  /** Scans a string, and returns it with its escapes resolved. */
  private string(): string {
    const { text } = this;
    const start = this.at++;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === 0x22) break;
      if (Number.isNaN(code) || code < 0x20) this.malformed();
      if (code === 0x5c) {
        escaped = true;
        this.escape();
      } else this.at++;
    }
    this.at++;
    return escaped ? (JSON.parse(text.slice(start, this.at)) as string) : text.slice(start + 1, this.at - 1);
  }

  private escape(): void {
    const kind = this.text[this.at + 1];
    if (kind !== 'u') {
      if (kind === undefined || !'"\\/bfnrt'.includes(kind)) this.malformed();
      this.at += 2;
      return;
    }
    const unit = this.unit(this.at);
    if (unit === null) this.malformed();
    const pair = unit >= 0xd800 && unit <= 0xdbff ? this.unit(this.at + 6) : null;
    if (pair !== null && pair >= 0xdc00 && pair <= 0xdfff) {
      this.at += 12;
      return;
    }
    if (unit === 0 || (unit >= 0xd800 && unit <= 0xdfff)) {
      if (this.options.repair) this.unstorable.push(this.at);
      else this.fault('json_character');
    }
    this.at += 6;
  }

  /** Returns the UTF-16 code unit of the `\uXXXX` escape at this offset; null if it is not a valid escape. */
  private unit(at: number): number | null {
    const digits = this.text.slice(at, at + 6);
    return /^\\u[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits.slice(2), 16) : null;
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at++;
    }
  }

  private fault(code: JsonFault['code']): void {
    this.faults.push({ path: jsonPointer(this.levels.map(({ key }) => key)), code });
    if (this.faults.length >= maxFaults) throw new Stop();
  }

  private stop(code: JsonFault['code'], params: Record<string, number>): never {
    this.faults.length = 0;
    this.faults.push({ path: '', code, params });
    throw new Stop();
  }

  private malformed(): never {
    const before = this.text.slice(0, this.at);
    const line = before.split('\n').length;
    return this.stop('json_malformed', { line, column: this.at - before.lastIndexOf('\n') });
  }
}

/** Whether a decimal number would change when it is parsed: beyond ±2^53, or with more digits than are kept. */
export function isRounded(token: string): boolean {
  const value = Number(token);
  if (!(Math.abs(value) <= largest)) return true;
  return token.length > exactLength && digitsOf(token) !== digitsOf(String(value));
}

/** Numbers of at most this length keep all of their digits. */
const exactLength = 5;

/** Returns the digits of a decimal number and the power of ten that they count, without zeros at either end. */
function digitsOf(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '0' : `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
