import { setImmediate as pause } from 'node:timers/promises';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { jsonPointer, maxFaults } from '#protocol/index.ts';
import { DomainError, type ErrorCode, type Fault } from '#server/domain/error.ts';
import { decode, refused, refusedFor } from './decode.ts';
import { codeOf, messageIdOf } from './inline.ts';

export interface ReadUnit {
  id: string;
  source: string;
  /** Null if the unit or one of its segments is not translated. */
  target: string | null;
  /** Line number, starting at 1. */
  line: number;
}

/** A file that a translator returned. */
export interface ReadDocument {
  originals: string[];
  /** Source language, as the file declares it. */
  source: string | null;
  target: string | null;
  units: ReadUnit[];
}

export interface XliffLimits {
  bytes: number;
  units: number;
}

const namespaces = { 'urn:oasis:names:tc:xliff:document:2.0': 2, 'urn:oasis:names:tc:xliff:document:1.2': 1 } as const;
const maxDepth = 64;
const slice = 65_536;

/**
 * Reads XLIFF 1.2 or 2.x. Documents with a DTD are rejected, so that entities are never expanded and nothing is
 * fetched. Throws 413 if the file is too large, and 422 for invalid XML (with the line), an unsupported format, too
 * many units, missing or duplicate ids, and inline elements without a placeholder.
 */
export async function readXliff(bytes: Uint8Array, limits: XliffLimits): Promise<ReadDocument> {
  if (bytes.byteLength > limits.bytes) {
    throw new DomainError('too_large', 'body_too_large', { params: { limit: limits.bytes } });
  }
  const text = decode(bytes);
  const reader = new Reader(limits.units);
  const parser = new SaxesParser({ xmlns: true });
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^utf-?(?:8|16)/i.test(encoding)) throw refusedFor('xliff_encoding');
  });
  parser.on('doctype', () => {
    throw refusedFor('xliff_doctype');
  });
  parser.on('error', () => {
    throw refusedFor('xliff_malformed', { line: parser.line, column: parser.columnIndex });
  });
  parser.on('opentag', (tag) => reader.open(tag, parser.line));
  parser.on('closetag', (tag) => reader.close(tag));
  parser.on('text', (words) => reader.text(words));
  parser.on('cdata', (words) => reader.text(words));
  for (let at = 0; at < text.length; at += slice) {
    parser.write(text.slice(at, at + slice));
    // Yields to other requests, because a large file takes a while.
    await pause();
  }
  parser.close();
  return reader.finish();
}

interface Segment {
  source: string;
  target: string | null;
  /** Whether this is whitespace between segments. If it has no target, its source is used. */
  ignorable: boolean;
}

/** Reads the texts of units from the XML events; ignores notes, matches and other modules. */
class Reader {
  readonly #document: ReadDocument = { originals: [], source: null, target: null, units: [] };
  readonly #faults: Fault[] = [];
  readonly #seen = new Set<string>();
  /** Local element names from the root; null for elements of other namespaces. */
  readonly #path: (string | null)[] = [];
  readonly #maxUnits: number;
  #generation: 1 | 2 | null = null;
  #unit: { id: string; line: number; segments: Segment[] } | null = null;
  /** The source or target text that is being read, and the placeholder element inside it that is still open. */
  #text: string | null = null;
  #code: { id: string | undefined; shown: string | undefined; content: string } | null = null;

  constructor(maxUnits: number) {
    this.#maxUnits = maxUnits;
  }

  open(tag: SaxesTagNS, line: number): void {
    const generation = Object.entries(namespaces).find(([uri]) => uri === tag.uri)?.[1] ?? null;
    if (this.#path.length === 0) {
      if (tag.local !== 'xliff' || generation === null) throw refusedFor('xliff_not_one');
      this.#generation = generation;
    }
    if (this.#path.length >= maxDepth) throw refusedFor('xliff_too_deep', { limit: maxDepth });
    const own = generation === this.#generation ? tag.local : null;
    this.#path.push(own);
    if (own === null) return;
    if (this.#text !== null) this.#inline(own, tag);
    else if (this.#generation === 2) this.#openTwo(own, tag, line);
    else this.#openOne(own, tag, line);
  }

  #openTwo(name: string, tag: SaxesTagNS, line: number): void {
    const parent = this.#path.at(-2);
    if (name === 'xliff') {
      this.#document.source = value(tag, 'srcLang') ?? null;
      this.#document.target = value(tag, 'trgLang') ?? null;
    } else if (name === 'file') this.#document.originals.push(value(tag, 'original') ?? value(tag, 'id') ?? '');
    else if (name === 'unit') this.#openUnit(value(tag, 'id'), line);
    else if (parent === 'unit' && (name === 'segment' || name === 'ignorable')) {
      this.#unit?.segments.push({ source: '', target: null, ignorable: name === 'ignorable' });
    } else if ((parent === 'segment' || parent === 'ignorable') && (name === 'source' || name === 'target')) {
      this.#text = '';
    }
  }

  #openOne(name: string, tag: SaxesTagNS, line: number): void {
    if (name === 'file') {
      this.#document.originals.push(value(tag, 'original') ?? '');
      this.#document.source ??= value(tag, 'source-language') ?? null;
      this.#document.target ??= value(tag, 'target-language') ?? null;
    } else if (name === 'trans-unit') {
      this.#openUnit(value(tag, 'id'), line);
      this.#unit?.segments.push({ source: '', target: null, ignorable: false });
    } else if (this.#path.at(-2) === 'trans-unit' && (name === 'source' || name === 'target')) this.#text = '';
  }

  #openUnit(unitId: string | undefined, line: number): void {
    const id = messageIdOf(unitId ?? '');
    this.#unit = { id, line, segments: [] };
    if (id === '') this.#fault('xliff_id_missing', { line });
    else if (this.#seen.has(id)) this.#fault('xliff_id_twice', { line });
    this.#seen.add(id);
    if (this.#seen.size > this.#maxUnits) throw refusedFor('messages_too_many', { maximum: this.#maxUnits });
  }

  #inline(name: string, tag: SaxesTagNS): void {
    // Translation tools mark words with these annotations, which do not change the text.
    if (name === 'mrk' || name === 'sm' || name === 'em') return;
    const id = value(tag, 'id');
    const char = name === 'cp' ? value(tag, 'hex') : /^cp([0-9A-F]{4})$/.exec(name === 'x' ? (id ?? '') : '')?.[1];
    if (char !== undefined) this.text(charOf(char));
    else if (name === 'ph' || name === 'x') this.#code = { id, shown: this.#shownBy(tag), content: '' };
    else this.#fault('xliff_inline_unknown', { element: known(name) });
  }

  #shownBy(tag: SaxesTagNS): string | undefined {
    return this.#generation === 2 ? (value(tag, 'equiv') ?? value(tag, 'disp')) : value(tag, 'equiv-text');
  }

  text(words: string): void {
    if (this.#code !== null) this.#code.content += words;
    else if (this.#text !== null && this.#path.at(-1) !== null) this.#text += words;
  }

  close(tag: SaxesTagNS): void {
    const name = this.#path.pop();
    if (name === null || name === undefined) return;
    if (this.#code !== null && (name === 'ph' || name === 'x')) {
      const { id, shown, content } = this.#code;
      this.#code = null;
      const code = codeOf(content === '' ? shown : content, id) ?? codeOf(shown, id);
      if (code === null) this.#fault('xliff_inline_unknown', { element: known(name) });
      else this.text(code);
    } else if (this.#text !== null && (name === 'source' || name === 'target')) {
      const segment = this.#unit?.segments.at(-1);
      if (segment !== undefined) segment[name] = this.#text;
      this.#text = null;
    } else if (this.#unit !== null && (tag.local === 'unit' || tag.local === 'trans-unit')) {
      const { id, line, segments } = this.#unit;
      const targets = segments.map(({ target, source, ignorable }) => target ?? (ignorable ? source : null));
      const isWhole = segments.some(({ target }) => target !== null) && targets.every((target) => target !== null);
      const source = segments.map((segment) => segment.source).join('');
      this.#document.units.push({ id, source, target: isWhole ? targets.join('') : null, line });
      this.#unit = null;
    }
  }

  #fault(code: ErrorCode, params: Record<string, string | number>): void {
    const path = this.#unit === null ? '' : jsonPointer(['unit', this.#unit.id]);
    if (this.#faults.length < maxFaults) this.#faults.push({ path, code, params });
  }

  finish(): ReadDocument {
    if (this.#generation === null) throw refusedFor('xliff_not_one');
    if (this.#faults.length > 0) throw refused(this.#faults);
    return this.#document;
  }
}

const value = (tag: SaxesTagNS, name: string): string | undefined => tag.attributes[name]?.value;

/**
 * Returns the character with this hexadecimal code, which XML cannot contain; the replacement character if the code is
 * invalid.
 */
const charOf = (hex: string): string =>
  /^[0-9a-f]{1,4}$/i.test(hex) ? String.fromCharCode(Number.parseInt(hex, 16)) : '\ufffd';

/** Element names come from the file, so faults quote only standard names. */
const known = (name: string): string =>
  ['bpt', 'bx', 'cp', 'ec', 'ept', 'ex', 'g', 'it', 'pc', 'ph', 'sc', 'sub', 'x'].includes(name) ? name : '?';
