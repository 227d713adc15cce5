/** A part of a format string: literal text, or an argument of a call. The argument `*` means all positional ones. */
export type FormatPart = { text: string } | { argument: string | number };

export type FormatFaultCode = 'format_quote' | 'format_brace' | 'format_placeholder';

export type FormatResult<T> = { value: T } | { fault: FormatFaultCode };

/** The error for a missing argument. `argument` is the argument's position, from 0, or its name. */
export class MissingArgument extends Error {
  readonly argument: string | number;

  constructor(argument: string | number) {
    super(`missing argument ${argument}`);
    this.argument = argument;
  }
}

/** The arguments of a call, by position and by name. */
export interface FormatArguments {
  positional: readonly unknown[];
  named: Readonly<Record<string, unknown>>;
}

/**
 * Parses a format string with `{0}`, `{name}`, `{*}`, and `{{` and `}}` for braces. Used for the environment and the
 * standard input of scripts.
 */
export function parseFormat(format: string): FormatResult<FormatPart[]> {
  const reader = new Reader(format);
  const word = new Word();
  while (!reader.isAtEnd) if (!takeBrace(reader, word)) word.add(reader.take());
  return reader.fault === null ? { value: word.parts } : { fault: reader.fault };
}

/**
 * Parses a command line into words, before values are inserted. Of a shell's special characters, only quotes and
 * backslashes are supported. An inserted value is therefore always (part of) one argument and never code.
 */
export function parseCommandLine(line: string): FormatResult<FormatPart[][]> {
  const reader = new Reader(line);
  const words: FormatPart[][] = [];
  let word: Word | null = null;
  let quote: string | null = null;
  while (!reader.isAtEnd && reader.fault === null) {
    if (quote === null && /\s/.test(reader.next)) {
      reader.take();
      if (word !== null) words.push(word.parts);
      word = null;
      continue;
    }
    word ??= new Word();
    if (takeBrace(reader, word)) continue;
    const character = reader.take();
    if (character === quote) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else if (character === '\\' && quote !== "'") word.add(escaped(reader, quote));
    else word.add(character);
  }
  if (word !== null) words.push(word.parts);
  if (reader.fault !== null) return { fault: reader.fault };
  return quote === null ? { value: words } : { fault: 'format_quote' };
}

/** Inserts the arguments of a call into a format string. Throws MissingArgument. */
export function fillFormat(parts: readonly FormatPart[], args: FormatArguments): string {
  return parts.map((part) => ('text' in part ? part.text : argumentOf(part.argument, args))).join('');
}

/**
 * Inserts the arguments of a call into the words of a command line. A word that is only `{*}` becomes one word for each
 * positional argument. Throws MissingArgument.
 */
export function fillCommandLine(words: readonly (readonly FormatPart[])[], args: FormatArguments): string[] {
  return words.flatMap((word) => {
    const [only] = word;
    const isAll = word.length === 1 && only !== undefined && 'argument' in only && only.argument === '*';
    return isAll ? args.positional.map(argumentText) : [fillFormat(word, args)];
  });
}

/** Returns a JSON value as an argument: numbers in decimal, null as an empty text, arrays and objects as JSON. */
export function argumentText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function argumentOf(argument: string | number, { positional, named }: FormatArguments): string {
  if (argument === '*') return positional.map(argumentText).join(' ');
  if (typeof argument === 'number') {
    if (argument < positional.length) return argumentText(positional[argument]);
  } else if (Object.hasOwn(named, argument)) {
    return argumentText(named[argument]);
  }
  throw new MissingArgument(argument);
}

class Reader {
  fault: FormatFaultCode | null = null;
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  get next(): string {
    return this.text[this.at] ?? '';
  }

  take(): string {
    const character = this.next;
    this.at += 1;
    return character;
  }

  /** Returns the text before the next `end` and skips both; null if there is no `end`. */
  until(end: string): string | null {
    const found = this.text.indexOf(end, this.at);
    if (found < 0) return null;
    const text = this.text.slice(this.at, found);
    this.at = found + end.length;
    return text;
  }
}

/** Collects the parts of a word. Adjacent texts become one part. */
class Word {
  readonly parts: FormatPart[] = [];

  add(text: string): void {
    const last = this.parts.at(-1);
    if (last !== undefined && 'text' in last) last.text += text;
    else this.parts.push({ text });
  }
}

/** Reads an escaped brace or a placeholder. Returns false if the next character is not a brace. */
function takeBrace(reader: Reader, word: Word): boolean {
  const brace = reader.next;
  if (brace !== '{' && brace !== '}') return false;
  reader.take();
  if (reader.next === brace) {
    reader.take();
    word.add(brace);
    return true;
  }
  const name = brace === '{' ? reader.until('}') : null;
  if (name === null) reader.fault ??= 'format_brace';
  else if (name === '' || name.includes('{')) reader.fault ??= 'format_placeholder';
  else word.parts.push({ argument: /^\d{1,9}$/.test(name) ? Number(name) : name });
  return true;
}

function escaped(reader: Reader, quote: string | null): string {
  if (reader.isAtEnd) return '\\';
  const character = reader.take();
  // Within double quotes, a shell keeps the backslash before characters that have no special meaning there.
  return quote === '"' && !'"\\$`'.includes(character) ? `\\${character}` : character;
}
