import { fitsXml, type InlinePart, piecesOf, unitIdOf } from './inline.ts';

export type XliffVersion = '1.2' | '2.1';

/** A message for a translator. */
export interface Unit {
  id: string;
  source: string;
  /** Null if there is no translation. */
  target: string | null;
  needsReview: boolean;
}

export interface Document {
  /** The version that the messages belong to: `<handler>-<version>`. */
  original: string;
  /** Source language as a BCP 47 tag. */
  source: string;
  target: string;
  units: readonly Unit[];
}

/** Returns the XLIFF document: one unit per message, placeholders as inline codes. */
export function writeXliff(document: Document, version: XliffVersion): string {
  return version === '2.1' ? writeTwo(document) : writeOne(document);
}

const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

function writeTwo({ original, source, target, units }: Document): string {
  const body = units.map((unit) => {
    const state = unit.target === null || unit.needsReview ? 'initial' : 'translated';
    const lines = [
      `    <unit id="${attribute(unitIdOf(unit.id, true))}"${nameOf(unit.id)}>`,
      `      <segment state="${state}">`,
      `        <source>${content(unit.source, two)}</source>`,
      ...(unit.target === null ? [] : [`        <target>${content(unit.target, two)}</target>`]),
      '      </segment>',
      '    </unit>',
    ];
    return lines.join('\n');
  });
  return [
    `${head}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.1" srcLang="${attribute(source)}" trgLang="${attribute(target)}">`,
    `  <file id="${attribute(original)}" original="${attribute(original)}" xml:space="preserve">`,
    ...body,
    '  </file>',
    '</xliff>\n',
  ].join('\n');
}

/** Returns a `name` attribute with the message id if that id had to be encoded for the unit. */
const nameOf = (id: string): string => (unitIdOf(id, true) !== id && fitsXml(id) ? ` name="${attribute(id)}"` : '');

function writeOne({ original, source, target, units }: Document): string {
  const body = units.map((unit) => {
    const state = unit.needsReview ? 'needs-review-translation' : 'translated';
    const lines = [
      `      <trans-unit id="${attribute(unitIdOf(unit.id, false))}">`,
      `        <source>${content(unit.source, one)}</source>`,
      ...(unit.target === null ? [] : [`        <target state="${state}">${content(unit.target, one)}</target>`]),
      '      </trans-unit>',
    ];
    return lines.join('\n');
  });
  return [
    `${head}<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">`,
    `  <file original="${attribute(original)}" datatype="plaintext" source-language="${attribute(source)}" target-language="${attribute(target)}" xml:space="preserve">`,
    '    <body>',
    ...body,
    '    </body>',
    '  </file>',
    '</xliff>\n',
  ].join('\n');
}

type Inline = (piece: Exclude<InlinePart, { text: string }>) => string;

const hex = (char: number): string => char.toString(16).toUpperCase().padStart(4, '0');

const two: Inline = (piece) =>
  'char' in piece
    ? `<cp hex="${hex(piece.char)}"/>`
    : `<ph id="${piece.id}" equiv="${attribute(piece.code)}" disp="${attribute(piece.code)}"/>`;

// XLIFF 1.2 has no element for a character that XML cannot contain, so an `x` element represents it.
const one: Inline = (piece) =>
  'char' in piece
    ? `<x id="cp${hex(piece.char)}" ctype="x-cp"/>`
    : `<ph id="${piece.id}" equiv-text="${attribute(piece.code)}">${escaped(piece.code)}</ph>`;

const content = (text: string, inline: Inline): string =>
  piecesOf(text)
    .map((piece) => ('text' in piece ? escaped(piece.text) : inline(piece)))
    .join('');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** Carriage returns must be escaped, because XML parsers convert line breaks to line feeds. */
const escaped = (text: string): string => text.replace(/[&<>\r]/g, (char) => entities[char] ?? char);
/** In attributes, line breaks and tabs must be escaped, because XML parsers convert both to spaces. */
const attribute = (text: string): string => text.replace(/[&<>"\r\n\t]/g, (char) => entities[char] ?? char);
