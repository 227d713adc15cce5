import { type SpanStyle, styleAfter, unstyled } from './terminal-style.ts';

/** A part of a line in one style. */
export interface TextSpan {
  text: string;
  style: SpanStyle;
}

/** The text between two carriage returns. `erases`: the pass erased the rest of the line. */
interface Pass {
  spans: TextSpan[];
  length: number;
  erases: boolean;
}

/** The longest line that agents send. Longer lines are truncated. */
const maxCharacters = 64 * 1024;

const esc = '\u001b';
/** Control characters, and direction marks, which could make a line look different from its contents. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const allInvisible = new RegExp(invisible, 'g');

/** Removes control characters, and shows direction marks as escapes. */
function plain(text: string): string {
  if (!invisible.test(text)) return text;
  return text.replace(allInvisible, (mark) => (mark < '\u00a0' ? '' : `\\u${mark.charCodeAt(0).toString(16)}`));
}

/**
 * Returns a line of output as a terminal would finally show it. Text after a carriage return overwrites earlier text.
 * Colors, bold, faint, italic and underlined text become styles. Other control sequences are removed. Styles end with
 * the line, because the rows before it may not be loaded. The running time is proportional to the length of the line.
 */
export function terminalSpans(whole: string): TextSpan[] {
  const line = whole.slice(0, maxCharacters);
  if (!line.includes(esc) && !line.includes('\r')) return line === '' ? [] : [{ text: plain(line), style: unstyled }];
  return lastWritten(passesOf(line));
}

/** Divides a line at its carriage returns and its changes of style. */
function passesOf(line: string): Pass[] {
  let style = unstyled;
  let pass: Pass = { spans: [], length: 0, erases: false };
  const passes = [pass];
  for (let at = 0; at < line.length; ) {
    const end = endOfText(line, at);
    if (end > at) {
      const text = plain(line.slice(at, end));
      if (text !== '') pass.spans.push({ text, style });
      pass.length += text.length;
      at = end;
    } else if (line[at] === '\r') {
      pass = { spans: [], length: 0, erases: false };
      passes.push(pass);
      at += 1;
    } else {
      const { until, final, parameters } = readSequence(line, at);
      if (final === 'm') style = styleAfter(style, parameters);
      if (final === 'K' && parameters !== '1') pass.erases = true;
      at = until;
    }
  }
  return passes;
}

function endOfText(line: string, from: number): number {
  let at = from;
  for (; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === 0x1b || code === 0x0d) break;
  }
  return at;
}

interface Sequence {
  /** The position after the sequence. */
  until: number;
  /** The last character of a CSI sequence; empty for other sequences. */
  final: string;
  parameters: string;
}

/** A CSI sequence: parameters, intermediate characters and the final character, all optional. */
const csi = /([0-?]*)([ -/]*)([@-~]?)/y;
/** Strings such as titles and links end with BEL or ST. A string without an end stays visible. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters end a string
const string = /[^\u0007\u001b]*(?:\u0007|\u001b\\)/y;
const other = /[ -/]*[0-~]?/y;

/** Reads the control sequence at `at`. An incomplete sequence ends at the first character that does not fit. */
function readSequence(line: string, at: number): Sequence {
  const kind = line[at + 1] ?? '';
  if (kind === '[') {
    const [all, parameters = '', intermediate = '', final = ''] = matchAt(csi, line, at + 2) ?? [''];
    return { until: at + 2 + all.length, final: intermediate === '' ? final : '', parameters };
  }
  const isString = kind !== '' && ']PX^_'.includes(kind);
  const [all] = (isString ? matchAt(string, line, at + 2) : matchAt(other, line, at + 1)) ?? [''];
  return { until: at + (isString ? 2 : 1) + all.length, final: '', parameters: '' };
}

function matchAt(form: RegExp, line: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(line);
}

/** Returns the visible parts of all passes. Each pass hides the columns of earlier passes that it overwrites. */
function lastWritten(passes: readonly Pass[]): TextSpan[] {
  const shown: TextSpan[] = [];
  let covered = 0;
  for (const { spans, length, erases } of passes.toReversed()) {
    if (length > covered) for (const span of spansAfter(spans, covered)) shown.push(span);
    covered = Math.max(covered, length);
    if (erases) break;
  }
  return shown;
}

function spansAfter(spans: readonly TextSpan[], covered: number): TextSpan[] {
  let at = 0;
  return spans.flatMap(({ text, style }) => {
    const rest = text.slice(Math.max(0, covered - at));
    at += text.length;
    return rest === '' ? [] : [{ text: rest, style }];
  });
}

/** Returns the first `length` characters of a line with their styles. */
export function cutSpans(spans: readonly TextSpan[], length: number): TextSpan[] {
  let rest = length;
  return spans.flatMap(({ text, style }) => {
    const kept = text.slice(0, Math.max(0, rest));
    rest -= text.length;
    return kept === '' ? [] : [{ text: kept, style }];
  });
}
