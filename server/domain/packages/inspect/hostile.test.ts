import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import en from '#locales/en/errors.json' with { type: 'json' };
import { defaultLimits, type Limits } from '#server/platform/limits.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { buildZip, manifestOf, packageEntries, type ZipEntry, type ZipOptions } from '#server/testing/zip.ts';
import type { Inspection } from './finding.ts';
import { inspectPackage } from './inspect-package.ts';
import { readPackage } from './read-package.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-hostile-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

let files = 0;
/** Reads a package as the worker does, but in this thread, so that its memory can be measured. */
async function inspect(zip: Buffer, limits: Limits = defaultLimits, read = readPackage): Promise<Inspection> {
  const path = join(folder, `upload-${files++}`);
  await writeFile(path, zip);
  const inspection = await read(path, limits);
  await rm(path);
  return inspection;
}

const withEntries = (...entries: ZipEntry[]) => buildZip([...packageEntries(), ...entries]);
const withOptions = (options: ZipOptions) => buildZip(packageEntries(), options);
const honest = () => buildZip(packageEntries());
const zeros = (bytes: number) => deflateRawSync(Buffer.alloc(bytes));
const MiB = 1024 * 1024;

/** Returns a zip whose last entry has the offset of the first, so that entries overlap as in known zip bombs. */
function overlapping(): Buffer {
  const raw = zeros(MiB);
  const lies = { unpacked: MiB };
  return buildZip([
    ...packageEntries(),
    { name: 'a', raw, lies },
    { name: 'b', raw: Buffer.alloc(0), lies: { ...lies, packed: raw.length }, central: { offset: 0 } },
  ]);
}

/** Returns a package with nested zips: each layer is small, but the unpacked contents are large. */
function nestedBomb(): Buffer {
  let zip = buildZip([{ name: 'zeros', raw: zeros(64 * MiB), lies: { unpacked: 64 * MiB } }]);
  for (let depth = 0; depth < 2; depth++) {
    const inner = zip;
    zip = buildZip(
      Array.from({ length: 16 }, (_, index) => ({ name: `${index}.zip`, data: inner, method: 0 as const })),
    );
  }
  return withEntries({ name: 'data/archive.zip', data: zip, method: 0 });
}

/** An NTFS field that announces times but does not contain them. Unpackers that trust it read past its end. */
const cutNtfs = Buffer.from('0a00080000000000010018000000'.slice(0, 24), 'hex');

const ntfsWhole = Buffer.concat([
  Buffer.from('0a002000', 'hex'),
  Buffer.alloc(4),
  Buffer.from('01001800', 'hex'),
  Buffer.alloc(24),
]);

/** Hostile packages, each with the path and code of the expected fault. */
const corpus: [name: string, zip: () => Buffer, path: string, code: keyof typeof en][] = [
  ['../', () => withEntries({ name: '../evil' }), '../evil', 'entry_name_escapes'],
  ['a part .. inside', () => withEntries({ name: 'a/../../evil' }), 'a/../../evil', 'entry_name_escapes'],
  ['..\\', () => withEntries({ name: '..\\evil' }), '..\\evil', 'entry_name_escapes'],
  ['a backslash', () => withEntries({ name: 'bin\\run' }), 'bin\\run', 'entry_name_backslash'],
  ['an absolute path', () => withEntries({ name: '/etc/cron.d/evil' }), '/etc/cron.d/evil', 'entry_name_absolute'],
  ['a drive', () => withEntries({ name: 'C:/evil' }), 'C:/evil', 'entry_name_drive'],
  ['a drive without a slash', () => withEntries({ name: 'C:evil' }), 'C:evil', 'entry_name_drive'],
  ['NUL in a name', () => withEntries({ name: 'a\0.sh' }), 'a\ufffd.sh', 'entry_name_nul'],
  ['a control character in a name', () => withEntries({ name: 'a\u001b[2J' }), 'a\ufffd[2J', 'entry_name_control'],
  ['an empty part', () => withEntries({ name: 'a//b' }), 'a//b', 'entry_name_form'],
  ['an empty name', () => withEntries({ name: '' }), '', 'entry_name_form'],
  ['a name that is too long', () => withEntries({ name: 'n'.repeat(1025) }), `${'n'.repeat(199)}…`, 'entry_name_long'],
  ['a name that is no UTF-8', () => withEntries({ name: Buffer.from([0x61, 0xff]) }), 'a\ufffd', 'entry_name_encoding'],
  ['a symbolic link', () => withEntries({ name: 'link', data: '/etc/shadow', mode: 0o120777 }), 'link', 'entry_link'],
  ['a device', () => withEntries({ name: 'tty', mode: 0o020666 }), 'tty', 'entry_special'],
  ['a pipe', () => withEntries({ name: 'pipe', mode: 0o010666 }), 'pipe', 'entry_special'],
  ['a file that says folder', () => withEntries({ name: 'dir', data: 'x', mode: 0o040755 }), 'dir', 'entry_folder'],
  ['a name twice', () => withEntries({ name: 'a' }, { name: 'a' }), 'a', 'entry_twice'],
  ['a name in two cases', () => withEntries({ name: 'a/B' }, { name: 'A/b' }), 'A/b', 'entry_two_spellings'],
  [
    'a name in two Unicode forms',
    () => withEntries({ name: '\u00e4' }, { name: 'a\u0308' }),
    'a\u0308',
    'entry_two_spellings',
  ],
  ['a file that is a folder', () => withEntries({ name: 'a' }, { name: 'a/b' }), 'a/b', 'entry_file_and_folder'],
  ['the same, folder first', () => withEntries({ name: 'x/y/z' }, { name: 'x' }), 'x', 'entry_file_and_folder'],
  ['less than it declares', () => withEntries({ name: 'a', data: 'x', lies: { unpacked: 500 } }), 'a', 'entry_size'],
  [
    'more than it declares',
    () => withEntries({ name: 'a', data: 'x'.repeat(500), lies: { unpacked: 10 } }),
    'a',
    'entry_size',
  ],
  [
    '50 MiB that declare 10 bytes',
    () => withEntries({ name: 'a', raw: zeros(50 * MiB), lies: { unpacked: 10 } }),
    'a',
    'entry_size',
  ],
  [
    'a large entry that declares more',
    () => withEntries({ name: 'a', data: Buffer.alloc(2 * MiB, 'ab'), lies: { unpacked: 2 * MiB + 1 }, method: 0 }),
    'a',
    'entry_size',
  ],
  [
    'a stored entry of two sizes',
    () => withEntries({ name: 'a', data: 'abc', method: 0, lies: { unpacked: 2 } }),
    'a',
    'entry_size',
  ],
  ['a wrong checksum', () => withEntries({ name: 'a', data: 'x', lies: { crc32: 1 } }), 'a', 'entry_checksum'],
  [
    'data that is not a deflate stream',
    () => withEntries({ name: 'a', raw: Buffer.from('ffffffff', 'hex'), lies: { unpacked: 9 } }),
    'a',
    'entry_data',
  ],
  [
    'bytes behind the compressed data',
    () => withEntries({ name: 'a', data: 'x', raw: Buffer.concat([deflateRawSync('x'), Buffer.from('hidden')]) }),
    'a',
    'entry_hidden',
  ],
  ['overlapping entries', overlapping, 'b', 'entry_headers_differ'],
  [
    'an entry inside of another',
    () => {
      const inner = buildZip([{ name: 'inner', data: 'y', method: 0 }]).subarray(0, 36);
      const zip = withEntries(
        { name: 'outer', data: inner, method: 0 },
        { name: 'inner', data: 'y', method: 0, central: { offset: 0 } },
      );
      // The offset in the directory's last record now points into the stored bytes of the previous entry.
      zip.writeUInt32LE(zip.indexOf(inner), zip.lastIndexOf(Buffer.from('504b0102', 'hex')) + 42);
      return zip;
    },
    'inner',
    'entry_overlap',
  ],
  [
    'an offset outside of the zip',
    () => withEntries({ name: 'a', central: { offset: 0x7fffffff } }),
    'a',
    'entry_outside',
  ],
  ['another local name', () => withEntries({ name: 'a', local: { name: 'b' } }), 'a', 'entry_headers_differ'],
  [
    'another local size',
    () => withEntries({ name: 'a', data: 'x', local: { unpacked: 2 } }),
    'a',
    'entry_headers_differ',
  ],
  [
    'another local method',
    () => withEntries({ name: 'a', data: 'x', local: { method: 0 } }),
    'a',
    'entry_headers_differ',
  ],
  ['an encrypted entry', () => withEntries({ name: 'a', data: 'x', lies: { flags: 0x0801 } }), 'a', 'entry_encrypted'],
  ['strong encryption', () => withEntries({ name: 'a', data: 'x', lies: { flags: 0x0841 } }), 'a', 'entry_encrypted'],
  ['AES of WinZip', () => withEntries({ name: 'a', data: 'x', lies: { method: 99 } }), 'a', 'entry_encrypted'],
  ['an unknown method', () => withEntries({ name: 'a', data: 'x', lies: { method: 12 } }), 'a', 'entry_method'],
  [
    'zip64 sizes without a field',
    () => withEntries({ name: 'a', central: { unpacked: 0xffffffff } }),
    'a',
    'entry_zip64',
  ],
  [
    'zip64 that counts differently',
    () => withOptions({ zip64: (record) => record.writeBigUInt64LE(9n, 32) }),
    '',
    'zip_zip64',
  ],
  [
    'zip64 with a directory elsewhere',
    () => withOptions({ zip64: (record) => record.writeBigUInt64LE(2n ** 60n, 48) }),
    '',
    'zip_zip64',
  ],
  [
    'zip64 end without a record',
    () => withOptions({ end: (record) => record.writeUInt32LE(0xffffffff, 16) }),
    '',
    'zip_zip64',
  ],
  ['a cut NTFS field', () => withEntries({ name: 'a', lies: { extra: cutNtfs } }), 'a', 'entry_extra_field'],
  [
    'an extra field longer than its place',
    () => withEntries({ name: 'a', central: { extra: Buffer.from('0a00ffff', 'hex') } }),
    'a',
    'entry_extra_field',
  ],
  [
    '60,000 entries',
    () =>
      buildZip([
        ...packageEntries(),
        ...Array.from({ length: 60_000 }, (_, index) => ({ name: `f/${index}`, method: 0 as const })),
      ]),
    '',
    'package_entries',
  ],
  [
    '60,000 entries that declare 3',
    () =>
      buildZip(
        [
          ...packageEntries(),
          ...Array.from({ length: 60_000 }, (_, index) => ({ name: `f/${index}`, method: 0 as const })),
        ],
        {
          end: (record) => {
            record.writeUInt16LE(3, 8);
            record.writeUInt16LE(3, 10);
          },
        },
      ),
    '',
    'package_entries',
  ],
  [
    'a flat bomb',
    () => withEntries({ name: 'zeros', raw: zeros(512 * MiB), lies: { unpacked: 512 * MiB } }),
    'zeros',
    'entry_ratio',
  ],
  [
    'a bomb of 3 GiB',
    () => {
      const raw = zeros(256 * MiB);
      return withEntries(
        ...Array.from({ length: 12 }, (_, index) => ({ name: `${index}`, raw, lies: { unpacked: 256 * MiB } })),
      );
    },
    '',
    'package_unpacked',
  ],
  ['a nested bomb', nestedBomb, 'data/archive.zip', 'nested_bomb'],
  ['a truncated zip', () => honest().subarray(0, -30), '', 'zip_cut'],
  ['a zip cut in its comment', () => withOptions({ comment: 'a comment' }).subarray(0, -3), '', 'zip_cut'],
  ['a prepended script', () => Buffer.concat([Buffer.from('#!/bin/sh\n'), honest()]), '', 'zip_prepended'],
  [
    'bytes before the first entry',
    () => buildZip([{ name: 'x', data: 'y' }, ...packageEntries()].slice(0)),
    '',
    'zip_prepended',
  ],
  ['trailing bytes', () => Buffer.concat([honest(), Buffer.from('more')]), '', 'zip_trailing'],
  ['a second zip behind', () => Buffer.concat([honest(), honest()]), '', 'zip_prepended'],
  ['several disks', () => withOptions({ end: (record) => record.writeUInt16LE(1, 4) }), '', 'zip_split'],
  ['a wrong count', () => withOptions({ end: (record) => record.writeUInt32LE(0x00010001, 8) }), '', 'zip_directory'],
  ['no zip', () => Buffer.from('just text'), '', 'zip_none'],
  ['nothing', () => Buffer.alloc(0), '', 'zip_none'],
];

describe('hostile packages', () => {
  test.each(corpus)(
    '%s is rejected with its own code, quickly and with little memory',
    async (name, zip, path, code) => {
      let bytes = zip();
      if (name === 'bytes before the first entry') bytes = dropFirstRecord(bytes);
      const before = process.memoryUsage().rss;
      const started = performance.now();
      const inspection = await inspect(bytes);
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(256 * MiB);
      if (inspection.ok) expect.fail('accepted');
      expect(inspection.faults.map((fault) => [fault.path, fault.code])).toContainEqual([path, code]);
      for (const fault of inspection.faults) expect(en).toHaveProperty([fault.code]);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('one response lists every fault of a package, up to a hundred, and counts the rest', async () => {
    const several = await inspect(
      buildZip([
        { name: 'HandlerManifest.json', data: manifestOf({ installCommand: '/bin/sh', enableCommand: 7 }) },
        { name: '../evil', data: 'x', lies: { crc32: 1 } },
        { name: 'link', mode: 0o120777 },
      ]),
    );
    expect(several.ok ? [] : several.faults.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '../evil entry_name_escapes',
      'link entry_link',
      '../evil entry_checksum',
      'HandlerManifest.json#/0/handlerManifest/enableCommand field_not_text',
      'HandlerManifest.json#/0/handlerManifest/installCommand command_absolute',
    ]);
    const many = await inspect(withEntries(...Array.from({ length: 150 }, (_, index) => ({ name: `../${index}` }))));
    if (many.ok) expect.fail('accepted');
    expect(many.faults).toHaveLength(101);
    expect(many.faults.at(-1)).toEqual({ path: '', code: 'more_faults', params: { count: 50 } });
  });

  longTest('a package that takes too much time or memory is rejected, and the portal keeps running', async () => {
    const limits = (changed: Partial<Limits['package']>): Limits => ({
      ...defaultLimits,
      package: { ...defaultLimits.package, ...changed },
    });
    const memory = new ProcessMemory();
    const inWorker = (path: string, bounds: Limits) => inspectPackage(memory, path, bounds);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const many = buildZip(Array.from({ length: 60_000 }, (_, index) => ({ name: `f/${index}`, method: 0 as const })));
    const slow = await inspect(many, limits({ inspectMs: 50, entries: 100_000 }), inWorker);
    expect(slow).toMatchObject({ ok: false, faults: [{ path: '', code: 'package_slow' }] });
    const heavy = await inspect(many, limits({ inspectHeapMiB: 16, entries: 100_000 }), inWorker);
    expect(heavy).toMatchObject({ ok: false, faults: [{ path: '', code: 'package_heavy' }] });
    expect(await inspect(honest(), defaultLimits, inWorker)).toMatchObject({ ok: true });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(20);
  });
});

/** Removes the first record of the directory, but keeps the bytes of its entry. */
function dropFirstRecord(zip: Buffer): Buffer {
  const first = zip.indexOf(Buffer.from('504b0102', 'hex'));
  const second = zip.indexOf(Buffer.from('504b0102', 'hex'), first + 1);
  const shorter = Buffer.concat([zip.subarray(0, first), zip.subarray(second)]);
  const end = shorter.length - 22;
  for (const at of [8, 10]) shorter.writeUInt16LE(shorter.readUInt16LE(end + at) - 1, end + at);
  shorter.writeUInt32LE(shorter.readUInt32LE(end + 12) - (second - first), end + 12);
  return shorter;
}

describe('valid packages', () => {
  const withManyEntries: [string, () => Buffer] = [
    'with 20,000 entries',
    () =>
      buildZip([...packageEntries(), ...Array.from({ length: 19_998 }, (_, i) => ({ name: `f/${i}`, data: `${i}` }))]),
  ];
  test.each<[string, () => Buffer]>([
    ['the smallest', honest],
    ['with a comment', () => withOptions({ comment: 'made by hand' })],
    [
      'zip64 throughout',
      () =>
        buildZip(
          packageEntries().map((entry) => ({ ...entry, zip64: true })),
          { zip64: true },
        ),
    ],
    [
      'with descriptors behind the data',
      () => buildZip(packageEntries().map((entry) => ({ ...entry, descriptor: true }))),
    ],
    ['with folders and names in Unicode', () => withEntries({ name: 'bin/' }, { name: 'bin/größe.txt', data: 'x' })],
    ['with a whole NTFS field', () => withEntries({ name: 'a', lies: { extra: ntfsWhole } })],
    ['with padding behind the extra fields', () => withEntries({ name: 'a', lies: { extra: Buffer.alloc(3) } })],
    [
      'with an archive inside',
      () => withEntries({ name: 'lib/tool.jar', data: withEntries({ name: 'a', data: 'b' }) }),
    ],
    [
      'with a broken archive inside',
      () => withEntries({ name: 'test.zip', data: honest().subarray(0, -9), method: 0 }),
    ],
    ['with an empty stored file', () => withEntries({ name: 'empty', method: 0 })],
    [
      'with 5 MiB',
      () => withEntries({ name: 'big', data: Buffer.from(Array.from({ length: 5 * MiB }, (_, i) => (i * i) >> 7)) }),
    ],
    ...(runsLong ? [withManyEntries] : []),
  ])('%s is accepted', async (_, zip) => {
    const inspection = await inspect(zip());
    expect(inspection).toMatchObject({ ok: true, warnings: [] });
    if (inspection.ok) expect(inspection.files[1]).toEqual({ name: 'install.sh', size: 17, mode: 0o755 });
  });

  test('unlisted bytes between entries are a warning', async () => {
    const [manifest, script] = packageEntries();
    const zip = buildZip([{ ...manifest!, gap: Buffer.from('unlisted') }, script!]);
    expect(await inspect(zip)).toMatchObject({ ok: true, warnings: [{ code: 'zip_unlisted', params: { bytes: 8 } }] });
  });
});
