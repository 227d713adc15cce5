import {
  Composer,
  Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml';
import { jsonPointer, pointerPath } from '#protocol/pointer.ts';
import { decodeUtf8 } from './json.ts';
import { isRounded } from './json-scan.ts';
import { scanYaml } from './yaml-scan.ts';

/** A position in a text, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

export interface YamlFault {
  /** JSON pointer; empty for the whole text. */
  path: string;
  code:
    | 'json_character'
    | 'json_not_utf8'
    | 'json_number'
    | 'json_too_deep'
    | 'yaml_alias'
    | 'yaml_broken'
    | 'yaml_directive'
    | 'yaml_documents'
    | 'yaml_key_twice'
    | 'yaml_tag'
    | 'yaml_too_long';
  params?: Record<string, number>;
}

/** A parsed text. `placeOf` returns the position of a key or an item, or of its closest ancestor in the text. */
export interface YamlText {
  value: unknown;
  placeOf(pointer: string): Place;
}

const maxFaults = 100;
const largest = 2 ** 53;
/** Building the values of so many pieces takes about a second, and blocks the process. */
const defaultPieces = 500_000;

/**
 * Parses untrusted YAML 1.2 with the core schema, which includes JSON. Accepts one document without aliases, anchors,
 * tags and directives, whose keys are scalars and unique. `__proto__` is an ordinary own property. `maxPieces` limits the
 * words, texts and signs.
 */
export function parseYaml(
  bytes: Uint8Array,
  { maxDepth, maxPieces = defaultPieces }: { maxDepth: number; maxPieces?: number },
): YamlText | { faults: YamlFault[] } {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) return { faults: [{ path: '', code: 'json_not_utf8' }] };
  const text = decoded.replace(/^\ufeff/, '');
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const scan = scanYaml(text, { maxDepth, maxPieces }, new Parser(lines.addNewLine), new Lexer());
  const faults = scan.faults.map(({ code, offset }): YamlFault => {
    const place = { ...placeAt(offset) };
    return { path: '', code, params: code === 'json_too_deep' ? { ...place, limit: maxDepth } : place };
  });
  if (faults.length > 0) return { faults };

  const composer = new Composer({ schema: 'core', version: '1.2', merge: false, uniqueKeys: false, stringKeys: true });
  const [document] = composer.compose(scan.tokens, true, text.length);
  const error = document?.errors[0];
  if (error) return { faults: [{ path: '', code: 'yaml_broken', params: { ...placeAt(error.pos[0]) } }] };
  const root = (document?.contents ?? null) as ParsedNode | null;
  const reader = new ValueReader(placeAt);
  const value = reader.read(root, []);
  if (reader.faults.length > 0) return { faults: reader.faults };
  return { value, placeOf: (pointer) => placeAt(offsetOf(root, pointerPath(pointer))) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: YAML forbids these characters outside of escapes
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/**
 * Formats a JSON value as YAML that `parseYaml` reads as the same value. Lists for which `isFlow` returns true are on one
 * line; it gets the names from the list up to the root.
 */
export function formatYaml(value: unknown, isFlow: (path: readonly string[]) => boolean): string {
  const document = new Document(value, { schema: 'core', version: '1.2', aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, node, ancestors) => {
      const pairs = ancestors.filter((each) => 'key' in each).map((each) => String((each as { key: unknown }).key));
      node.flow = node.items.length === 0 || (ancestors.some(isSeq) && isFlow(pairs.reverse()));
    },
  });
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  // The library writes some characters that its own parser, or ours, does not take.
  if (!forbidden.test(text)) return text;
  return `${JSON.stringify(value, null, 2).replace(new RegExp(forbidden, 'g'), escaped)}\n`;
}

const escaped = (character: string): string =>
  character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Converts nodes to values. The depth of the nodes is already limited. */
class ValueReader {
  readonly faults: YamlFault[] = [];
  private readonly placeAt: (offset: number) => Place;

  constructor(placeAt: (offset: number) => Place) {
    this.placeAt = placeAt;
  }

  read(node: ParsedNode | null, path: readonly (string | number)[]): unknown {
    if (isSeq(node)) return node.items.map((item, index) => this.read(item as ParsedNode, [...path, index]));
    if (isMap(node)) return this.readMap(node as YAMLMap.Parsed, path);
    const value = isScalar(node) ? node.value : null;
    if (typeof value === 'string' && !isStorable(value)) this.add('json_character', node, path);
    if (typeof value === 'number' && isInexact(value, node)) this.add('json_number', node, path);
    return value;
  }

  private readMap(map: YAMLMap.Parsed, path: readonly (string | number)[]): unknown {
    const entries = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      const name = nameOf(key);
      const at = [...path, name];
      if (entries.has(name)) this.add('yaml_key_twice', key, at);
      else if (!isStorable(name)) this.add('json_character', key, path);
      else entries.set(name, this.read(value, at));
    }
    // Unlike assignment, this creates an own property for `__proto__`.
    return Object.fromEntries(entries);
  }

  private add(code: YamlFault['code'], node: ParsedNode | null, path: readonly (string | number)[]): void {
    if (this.faults.length >= maxFaults) return;
    this.faults.push({ path: jsonPointer(path), code, params: { ...this.placeAt(node?.range[0] ?? 0) } });
  }
}

/** Whether a number would be another one after parsing. YAML also has hexadecimal and octal integers. */
const isInexact = (value: number, node: ParsedNode | null): boolean => {
  const source = isScalar(node) ? (node.source ?? '') : '';
  return !(Math.abs(value) < largest) || (/^[-+]?(?:\d|\.\d)[\d.eE+-]*$/.test(source) && isRounded(source));
};

/** Whether PostgreSQL can store the text: it has no NUL and no half of a surrogate pair. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const nameOf = (key: ParsedNode | null): string => (isScalar(key) ? String(key.value ?? '') : '');

function offsetOf(root: ParsedNode | null, path: readonly string[]): number {
  let node = root;
  let offset = root?.range[0] ?? 0;
  for (const name of path) {
    if (isMap(node)) {
      const pair = (node as YAMLMap.Parsed).items.find(({ key }) => nameOf(key) === name);
      if (pair === undefined) return offset;
      offset = pair.key?.range[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = (node.items[Number(name)] as ParsedNode | undefined) ?? null;
      offset = node?.range[0] ?? offset;
    } else return offset;
  }
  return offset;
}
