import { describe, expect, test } from 'vitest';
import { DomainError } from '#server/domain/error.ts';
import { longTest } from '#server/testing/long.ts';
import { readXliff } from './read-xliff.ts';
import { type Document, type Unit, writeXliff, type XliffVersion } from './write-xliff.ts';

const limits = { bytes: 8 * 1024 * 1024, units: 20_000 };
const versions: XliffVersion[] = ['2.1', '1.2'];
const document = (units: Unit[]): Document => ({ original: 'Acme.Lab.Probe-1.0.0', source: 'en', target: 'de', units });
const unit = (id: string, source: string, target: string | null = null): Unit => ({
  id,
  source,
  target,
  needsReview: false,
});
const read = (text: string | Uint8Array) =>
  readXliff(typeof text === 'string' ? new TextEncoder().encode(text) : text, limits);

async function faultsOf(text: string | Uint8Array): Promise<string[]> {
  const error: unknown = await read(text).catch((cause: unknown) => cause);
  if (!(error instanceof DomainError)) throw new Error('it was accepted');
  return [error.code, ...error.faults.map(({ path, code }) => `${path} ${code}`)];
}

/** Returns a seeded generator, so that every run uses the same numbers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const scraps = [
  ...[
    '{0}',
    '{1}',
    '{12}',
    '<0>',
    '{{',
    '}}',
    '{',
    '}',
    '{0',
    '{99999}',
    '{{0}}',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\t',
    '&',
    '<',
    '>',
  ],
  ...[
    '"',
    "'",
    ']]>',
    '&amp;',
    '<b>',
    '<!--',
    'Datenträger',
    '磁盘',
    '🜂',
    '\u0001',
    '\u001f',
    '\uffff',
    '\u00a0',
    'e\u0301',
    'p0',
    'b64-',
  ],
];

const written: Record<XliffVersion, string[]> = {
  '2.1': [
    'version="2.1" srcLang="en" trgLang="de"',
    '<file id="Acme.Lab.Probe-1.0.0" original="Acme.Lab.Probe-1.0.0" xml:space="preserve">',
    '<unit id="1215">\n      <segment state="initial">',
    '<source>Disk <ph id="p0" equiv="{0}" disp="{0}"/> &lt; <ph id="p1" equiv="{1}" disp="{1}"/> &amp; <ph id="p0.2" equiv="{0}" disp="{0}"/></source>',
    '<unit id="b64-ZGlzayBmdWxs" name="disk full">',
  ],
  '1.2': [
    '<file original="Acme.Lab.Probe-1.0.0" datatype="plaintext" source-language="en" target-language="de" xml:space="preserve">',
    '<source>Disk <ph id="p0" equiv-text="{0}">{0}</ph> &lt; <ph id="p1" equiv-text="{1}">{1}</ph> &amp; ',
    '<target state="needs-review-translation">Datenträger <ph id="p0" equiv-text="{0}">{0}</ph></target>',
    '<trans-unit id="disk full">',
  ],
};

describe.each(versions)('XLIFF %s', (version) => {
  test('keeps every id and text through export and import, whatever they contain', async () => {
    const random = randomOf(version === '2.1' ? 1 : 2);
    const text = () => Array.from({ length: 1 + random(8) }, () => scraps[random(scraps.length)]).join('');
    const units = Array.from({ length: 500 }, (_, index) =>
      unit(`${text()}${index}`, text(), random(3) === 0 ? null : text()),
    );
    const { originals, source, target, units: back } = await read(writeXliff(document(units), version));
    expect({ originals, source, target }).toEqual({ originals: ['Acme.Lab.Probe-1.0.0'], source: 'en', target: 'de' });
    expect(back.map(({ id, source, target }) => ({ id, source, target }))).toEqual(
      units.map(({ id, source, target }) => ({ id, source, target })),
    );
  });

  test('protects placeholders, escapes the rest, and marks messages that need review', () => {
    const changed = { ...unit('1215', 'Disk {0} < {1} & {0}', 'Datenträger {0}'), needsReview: true };
    const text = writeXliff(document([changed, unit('disk full', 'x')]), version);
    for (const part of written[version]) expect(text).toContain(part);
  });

  longTest('reads 20,000 units of 8 MiB within seconds', async () => {
    const filler = 'y'.repeat(120);
    const units = Array.from({ length: 20_000 }, (_, index) => unit(`m${index}`, `${filler} {0}`, filler));
    const text = new TextEncoder().encode(writeXliff(document(units), version));
    expect(text.byteLength).toBeGreaterThan(7_000_000);
    expect((await read(text)).units).toHaveLength(20_000);
  });
});

const two = (body: string, head = '') =>
  `${head}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de"><file id="f" original="o">${body}</file></xliff>`;
const one = (body: string) =>
  `<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file original="o" source-language="en" target-language="de"><body>${body}</body></file></xliff>`;
const segment = (target: string) =>
  `<unit id="a"><segment><source>s</source><target>${target}</target></segment></unit>`;

describe('reads what translation tools return', () => {
  test.each([
    [
      'segments and the white space between them are joined',
      two(
        '<unit id="a"><segment><source>A.</source><target>B.</target></segment><ignorable><source> </source></ignorable><segment><source>C.</source><target>D.</target></segment></unit>',
      ),
      'B. D.',
    ],
    [
      'a unit with a segment to do is not translated',
      two(
        '<unit id="a"><segment><source>A.</source><target>B.</target></segment><segment><source>C.</source></segment></unit>',
      ),
      null,
    ],
    ['marks are looked through', two(segment('x <mrk id="m" type="term">{0}</mrk> y')), 'x {0} y'],
    ['a placeholder is known by its id alone', two(segment('<ph id="p3"/>')), '{3}'],
    ['CDATA is text', two(segment('<![CDATA[<b> & {0}]]>')), '<b> & {0}'],
    [
      'matches of other modules do not count',
      two(
        `<unit id="a"><m:matches xmlns:m="urn:oasis:names:tc:xliff:matches:2.0"><m:match ref="#1"><source>q</source><target>q</target></m:match></m:matches><segment><source>s</source><target>t</target></segment></unit>`,
      ),
      't',
    ],
    [
      'nor do alternatives of 1.2',
      one(
        '<trans-unit id="a"><source>s</source><target>t</target><alt-trans><source>q</source><target>q</target></alt-trans></trans-unit>',
      ),
      't',
    ],
    [
      'x of 1.2 is a placeholder too',
      one('<trans-unit id="a"><source>s</source><target>t <x id="1" equiv-text="{4}"/></target></trans-unit>'),
      't {4}',
    ],
  ])('%s', async (_, text, target) => {
    expect((await read(text)).units).toMatchObject([{ id: 'a', target }]);
  });

  test.each(['utf-16le', 'utf-16be'] as const)('%s with its byte-order mark is read', async (encoding) => {
    const text = `\ufeff<?xml version="1.0" encoding="UTF-16"?>${two(segment('Größe'))}`;
    const bytes = Buffer.from(text, 'utf16le');
    if (encoding === 'utf-16be') bytes.swap16();
    expect((await read(bytes)).units).toMatchObject([{ target: 'Größe' }]);
  });
});

describe('rejects', () => {
  const laughs = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`);
  test.each([
    ['a billion laughs', two(segment('&l9;'), `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs.join('')}]>`), ' xliff_doctype'],
    [
      'a file from outside',
      two(segment('&e;'), '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
      ' xliff_doctype',
    ],
    ['a DTD from outside', two(segment('t'), '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">'), ' xliff_doctype'],
    ['an entity that nobody declared', two(segment('&nbsp;')), ' xliff_malformed'],
    ['a declared Latin-1', `<?xml version="1.0" encoding="ISO-8859-1"?>${two(segment('t'))}`, ' xliff_encoding'],
    ['bytes that are no UTF-8', Buffer.from(two(segment('Größe')), 'latin1'), ' xliff_encoding'],
    ['UTF-16 without its mark', Buffer.from(two(segment('t')), 'utf16le'), ' xliff_malformed'],
    ['half a file', two(segment('t')).slice(0, 200), ' xliff_malformed'],
    ['nothing', '', ' xliff_malformed'],
    ['other XML', '<html/>', ' xliff_not_one'],
    ['XLIFF without its namespace', '<xliff version="1.2"/>', ' xliff_not_one'],
    ['the same id twice', two(segment('t') + segment('u')), '/unit/a xliff_id_twice'],
    ['a unit without an id', one('<trans-unit><source>s</source></trans-unit>'), '/unit/ xliff_id_missing'],
    ['formatting codes', two(segment('<pc id="1">t</pc>')), '/unit/a xliff_inline_unknown'],
    ['a placeholder of somebody else', two(segment('<ph id="7" equiv="%s"/>')), '/unit/a xliff_inline_unknown'],
    ['depth', two('<group>'.repeat(100)), ' xliff_too_deep'],
  ])('%s', async (_, text, fault) => {
    expect(await faultsOf(text)).toEqual(['xliff_refused', fault]);
  });

  test('files above 10 MB, and files with more units than a version may have', async () => {
    expect(await faultsOf(new Uint8Array(10_000_000))).toEqual(['body_too_large']);
    const many = Array.from({ length: 20_001 }, (_, index) => `<unit id="${index}"/>`).join('');
    expect(await faultsOf(two(many))).toEqual(['xliff_refused', ' messages_too_many']);
  });

  test('lists every fault, without names of foreign elements', async () => {
    const error: unknown = await read(two(segment('<secret/>') + segment('t'))).catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      faults: [
        { path: '/unit/a', code: 'xliff_inline_unknown', params: { element: '?' } },
        { path: '/unit/a', code: 'xliff_id_twice' },
      ],
    });
  });
});
