import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits, type Limits } from '#server/platform/limits.ts';
import { parseYaml } from '#server/platform/yaml.ts';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { buildZip, packageEntries, type ZipEntry } from '#server/testing/zip.ts';
import type { ExpectedPackage } from '../finding.ts';
import { readPackage } from '../read-package.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-formula-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function inspect(entries: ZipEntry[], expected?: Partial<ExpectedPackage>, limits: Limits = defaultLimits) {
  const path = join(folder, 'upload');
  await writeFile(path, buildZip(entries));
  return readPackage(path, limits, { kind: 'formula', name: 'blog', ...expected });
}

type Inspected = Awaited<ReturnType<typeof inspect>>;
interface Shown {
  path: string;
  code: string;
  params?: Record<string, unknown> | undefined;
}
const shown = ({ path, code, params }: Shown): string => {
  const place = params?.line === undefined ? '' : ` ${params.line}:${params.column}`;
  return `${path} ${code}${place}`;
};
const faultsOf = (found: Inspected): string[] => (found.ok ? ['accepted'] : found.faults.map(shown));
const warningsOf = (found: Inspected): string[] =>
  found.ok ? found.warnings.map(shown) : ['rejected', ...faultsOf(found)];

const script = '#!/bin/sh\nexit 0\n';

test('a formula is accepted with its relations, hooks, time limits and masked keys', async () => {
  const metadata = `name: wordpress
summary: A blog
provides: { website: { interface: http } }
requires: { db: { interface: mysql, limit: 2 }, cache: { interface: memcache, optional: true } }
peers:    { loadbalancer: { interface: reversenginx } }
timeouts: { install: 1800, default: 300 }
masked:   [ password, salt ]
`;
  const files = { 'hooks/install': script, 'hooks/db-relation-changed': script, 'hooks/lib/common.sh': script };
  const found = await inspect(formulaEntries(metadata, files), { name: 'wordpress' });
  expect(found).toEqual({
    ok: true,
    kind: 'formula',
    manifest: {
      name: 'wordpress',
      summary: 'A blog',
      provides: { website: { interface: 'http', limit: null, optional: false } },
      requires: {
        db: { interface: 'mysql', limit: 2, optional: false },
        cache: { interface: 'memcache', limit: 1, optional: true },
      },
      peers: { loadbalancer: { interface: 'reversenginx', limit: null, optional: false } },
      timeouts: { install: 1800, default: 300 },
      masked: ['password', 'salt'],
      hooks: ['db-relation-changed', 'install'],
    },
    manifestText: metadata,
    settingsSchema: null,
    files: expect.arrayContaining([{ name: 'hooks/install', size: script.length, mode: 0o755 }]),
    warnings: [],
  });
});

test('JSON is accepted as metadata, because it is YAML', async () => {
  const metadata = JSON.stringify({ name: 'blog', requires: { db: { interface: 'mysql' } } }, null, 2);
  expect(await inspect(formulaEntries(metadata))).toMatchObject({ ok: true, manifest: { name: 'blog', summary: '' } });
});

describe('the manifest at the root decides the kind', () => {
  const metadata = { data: metadataOf() };
  const handler = packageEntries();
  test.each<[string, ZipEntry[], ExpectedPackage['kind'], string[]]>([
    ['absent', [{ name: 'hooks/install' }], 'formula', ['metadata.yaml metadata_absent']],
    ['absent from a package of either kind', [{ name: 'a' }], null, ['HandlerManifest.json manifest_absent']],
    ['in a folder', [{ name: 'blog/metadata.yaml', ...metadata }], null, ['blog/metadata.yaml metadata_in_folder']],
    ['in another case', [{ name: 'Metadata.yaml', ...metadata }], null, ['Metadata.yaml metadata_spelling']],
    ['with another ending', [{ name: 'metadata.yml', ...metadata }], 'formula', ['metadata.yml metadata_spelling']],
    ['beside a handler’s', [...formulaEntries(), ...handler], null, [' package_two_kinds']],
    ['beside a handler’s, for a formula', [...handler, ...formulaEntries()], 'formula', [' package_two_kinds']],
    [
      'a handler’s, for a formula',
      handler,
      'formula',
      ['metadata.yaml metadata_absent', 'HandlerManifest.json package_is_handler'],
    ],
    [
      'a formula’s, for a handler',
      formulaEntries(),
      'handler',
      ['HandlerManifest.json manifest_absent', 'metadata.yaml package_is_formula'],
    ],
  ])('%s: rejected', async (_, entries, kind, faults) => {
    expect(faultsOf(await inspect(entries, { kind }))).toEqual(faults);
  });

  test('without an expectation, each kind is accepted', async () => {
    expect(await inspect(formulaEntries(), { kind: null })).toMatchObject({ ok: true, kind: 'formula' });
    expect(await inspect(handler, { kind: null })).toMatchObject({ ok: true, kind: 'handler', settingsSchema: null });
  });
});

describe('every fault of metadata.yaml has its line and column', () => {
  const at = 'metadata.yaml';
  test.each<[string, string, string[]]>([
    ['empty', '', [`${at} yaml_not_map 1:1`]],
    ['a list', '- name', [`${at} yaml_not_map 1:1`]],
    ['without a name', 'summary: x\n', [`${at}#/name field_missing 1:1`]],
    ['a blank name', 'name: " "\n', [`${at}#/name field_empty 1:1`]],
    ['a name that is a number', 'name: 7\n', [`${at}#/name field_not_text 1:1`]],
    ['another name', 'summary: x\nname: shop\n', [`${at}#/name formula_other_name 2:1`]],
    ['broken YAML', 'name: blog\nx: y: z\n', [`${at} yaml_broken 2:4`]],
    ['an open list', 'name: [blog\n', [`${at} yaml_broken 2:1`]],
    ['a forbidden character', 'name: blog\nx: \u0001\n', [`${at} yaml_broken 2:4`]],
    ['an anchor and an alias', 'name: &n blog\nx: *n\n', [`${at} yaml_alias 1:7`, `${at} yaml_alias 2:4`]],
    ['an alias as a key', 'name: &n blog\n*n : x\n', [`${at} yaml_alias 1:7`, `${at} yaml_alias 2:1`]],
    ['a tag', 'name: blog\nx: !!js/function "x"\n', [`${at} yaml_tag 2:4`]],
    ['a tag of a block', 'name: !x |\n  blog\n', [`${at} yaml_tag 1:7`]],
    ['a directive', '%YAML 1.1\n---\nname: blog\n', [`${at} yaml_directive 1:1`]],
    ['two documents', 'name: blog\n---\nname: blog\n', [`${at} yaml_documents 2:1`]],
    ['a key twice', 'name: blog\nname: blog\n', [`${at}#/name yaml_key_twice 2:1`]],
    ['keys that are equal as texts', 'name: blog\nx: { 1: a, "1": b }\n', [`${at}#/x/1 yaml_key_twice 2:12`]],
    ['a list as a key', 'name: blog\n? [a]\n: b\n', [`${at} yaml_broken 2:3`]],
    ['an escaped NUL', 'name: "a\\0"\n', [`${at}#/name json_character 1:7`]],
    ['half of a surrogate pair', 'name: "\\ud800"\n', [`${at}#/name json_character 1:7`]],
    ['a number that loses precision', 'name: blog\nx: 12345678901234567890\n', [`${at}#/x json_number 2:4`]],
    ['a number that is none', 'name: blog\nx: .nan\n', [`${at}#/x json_number 2:4`]],
    ['relations as a list', metadataOf('requires: [db]\n'), [`${at}#/requires yaml_not_map 3:1`]],
    ['a relation as a text', metadataOf('requires: { db: mysql }\n'), [`${at}#/requires/db yaml_not_map 3:13`]],
    [
      'a relation without an interface',
      metadataOf('peers: { ring: {} }\n'),
      [`${at}#/peers/ring/interface field_missing 3:10`],
    ],
    [
      'an interface in capitals',
      metadataOf('peers:\n  ring:\n    interface: My SQL\n'),
      [`${at}#/peers/ring/interface relation_interface_form 5:5`],
    ],
    [
      'a relation name in two sections',
      metadataOf('provides: { db: { interface: x } }\nrequires: { db: { interface: y } }\n'),
      [`${at}#/requires/db relation_name_twice 4:13`],
    ],
    [
      'a relation name twice in a section',
      metadataOf('provides: { db: { interface: x }, db: { interface: x } }\n'),
      [`${at}#/provides/db yaml_key_twice 3:35`],
    ],
    [
      'the scope container',
      metadataOf('peers: { ring: { interface: x, scope: container } }\n'),
      [`${at}#/peers/ring/scope relation_scope 3:32`],
    ],
    [
      'a limit of zero and an unclear optional',
      metadataOf('requires: { db: { interface: x, limit: 0, optional: maybe } }\n'),
      [`${at}#/requires/db/limit field_too_small 3:33`, `${at}#/requires/db/optional field_not_boolean 3:43`],
    ],
    [
      'a time limit above a day',
      metadataOf('timeouts: { install: 86401, start: 1.5 }\n'),
      [`${at}#/timeouts/install field_too_big 3:13`, `${at}#/timeouts/start field_not_integer 3:29`],
    ],
    ['masked as a text', metadataOf('masked: password\n'), [`${at}#/masked yaml_not_list 3:1`]],
    ['a masked number', metadataOf('masked: [a, 7]\n'), [`${at}#/masked/1 field_not_text 3:13`]],
  ])('%s', async (_, metadata, faults) => {
    expect(faultsOf(await inspect(formulaEntries(metadata)))).toEqual(faults);
  });

  test.each(['juju-info', 'ensemble', 'a/b', 'db-1', 'Db', '', 'a--b', '-a', 'ä', 'x'.repeat(64), '__proto__'])(
    'the relation name %j is rejected',
    async (name) => {
      const metadata = metadataOf(`provides: { ${JSON.stringify(name)}: { interface: x } }\n`);
      const [fault] = faultsOf(await inspect(formulaEntries(metadata)));
      expect(fault).toBe(`${at}#/provides/${name.replace('/', '~1')} relation_name_form 3:13`);
    },
  );

  test('names with digits in a part with letters are accepted', async () => {
    const metadata = metadataOf('provides: { db-v2: { interface: mysql-8 }, s3: { interface: s3, scope: global } }\n');
    expect(await inspect(formulaEntries(metadata))).toMatchObject({ ok: true });
  });

  test('Latin-1 is rejected; a byte-order mark is not', async () => {
    const latin = Buffer.from('name: blög\n', 'latin1');
    expect(faultsOf(await inspect(formulaEntries(latin)))).toEqual([`${at} json_not_utf8`]);
    expect(await inspect(formulaEntries(`\ufeff${metadataOf()}`))).toMatchObject({
      ok: true,
      manifestText: metadataOf(),
    });
  });
});

describe('hostile YAML is rejected in little time', () => {
  const deep = (levels: number, open: string) => `name: blog\nx: ${open.repeat(levels)}`;
  const blocks = Array.from({ length: 10_000 }, (_, level) => `${' '.repeat(Math.min(level, 100))}a:\n`).join('');
  const laughs = Array.from({ length: 20 }, (_, n) => `l${n}: &l${n} [${`*l${n - 1}, `.repeat(n === 0 ? 0 : 9)}x]\n`);
  test.each<[string, string, string]>([
    ['10,000 levels of lists', deep(10_000, '['), 'json_too_deep 2:67'],
    ['10,000 levels of mappings', deep(10_000, '{a: '), 'json_too_deep 2:256'],
    ['10,000 levels of list items', `x:\n${'- '.repeat(10_000)}`, 'json_too_deep 2:127'],
    ['10,000 levels of indentation', blocks, 'json_too_deep 65:66'],
    ['a billion laughs', laughs.join(''), 'yaml_alias 1:5'],
    ['a long open text', `name: "${'x'.repeat(1_000_000)}`, 'yaml_broken 1:1000008'],
  ])('%s', async (_, metadata, fault) => {
    expect(faultsOf(await inspect(formulaEntries(metadata)))[0]).toBe(`metadata.yaml ${fault}`);
  });

  test('a text with more pieces than can be read in time is rejected', () => {
    const read = parseYaml(Buffer.from(`name: blog\nx: [${'a,'.repeat(1_000)}]\n`), { maxDepth: 64, maxPieces: 1_000 });
    expect(read).toMatchObject({ faults: [{ path: '', code: 'yaml_too_long', params: { line: 2 } }] });
  });

  test('64 levels are accepted, 65 are not', async () => {
    const nested = (levels: number) => metadataOf(`x: ${'['.repeat(levels)}${']'.repeat(levels)}\n`);
    expect(await inspect(formulaEntries(nested(63)))).toMatchObject({ ok: true });
    expect(faultsOf(await inspect(formulaEntries(nested(64))))).toEqual(['metadata.yaml json_too_deep 3:67']);
  });

  test('files above 1 MiB are rejected unread', async () => {
    const long = `name: blog\n#${' '.repeat(defaultLimits.package.manifestBytes)}`;
    const entries: ZipEntry[] = [
      { name: 'metadata.yaml', data: long, method: 0 },
      { name: 'config.yaml', data: long, method: 0 },
    ];
    const faults = ['metadata.yaml manifest_too_large', 'config.yaml options_too_large'];
    expect(faultsOf(await inspect(entries))).toEqual(faults);
  });
});

describe('config.yaml', () => {
  const withOptions = (options: string) => inspect(formulaEntries(metadataOf(), { 'config.yaml': options }));

  test('becomes the public half of the settings schema', async () => {
    const found = await withOptions(`options:
  title: { type: string, default: My blog, description: Shown at the top }
  workers: { type: int, default: 4 }
  ratio: { type: float, default: 1 }
  debug: { type: boolean, default: false, description: "" }
  empty: { type: string, default: }
`);
    expect(found).toMatchObject({ ok: true, warnings: [] });
    expect(found.ok && found.settingsSchema).toEqual({
      publicSettings: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
        properties: {
          title: { type: 'string', description: 'Shown at the top', default: 'My blog' },
          workers: { type: 'integer', default: 4 },
          ratio: { type: 'number', default: 1 },
          debug: { type: 'boolean', default: false },
          empty: { type: 'string' },
        },
      },
    });
  });

  test('without options accepts no setting', async () => {
    const found = await withOptions('options:\n');
    expect(found.ok && found.settingsSchema).toMatchObject({
      publicSettings: { additionalProperties: false, properties: {} },
    });
  });

  test.each<[string, string, string[]]>([
    ['a list', '- a', ['config.yaml yaml_not_map 1:1']],
    ['options as a text', 'options: x', ['config.yaml#/options yaml_not_map 1:1']],
    ['an option as a text', 'options:\n  a: x', ['config.yaml#/options/a yaml_not_map 2:3']],
    ['no type', 'options:\n  a: {}', ['config.yaml#/options/a option_type 2:3']],
    ['an unknown type', 'options:\n  a: { type: list }', ['config.yaml#/options/a/type option_type 2:8']],
    ['the type of a property', 'options:\n  a: { type: toString }', ['config.yaml#/options/a/type option_type 2:8']],
    [
      'a text as an int',
      'options:\n  a: { type: int, default: "4" }',
      ['config.yaml#/options/a/default option_default_type 2:19'],
    ],
    [
      'a fraction as an int',
      'options:\n  a: { type: int, default: 4.5 }',
      ['config.yaml#/options/a/default option_default_type 2:19'],
    ],
    [
      'yes as a boolean',
      'options:\n  a: { type: boolean, default: yes }',
      ['config.yaml#/options/a/default option_default_type 2:23'],
    ],
    [
      'a number as a string',
      'options:\n  a: { type: string, default: 4 }',
      ['config.yaml#/options/a/default option_default_type 2:22'],
    ],
    [
      'a description that is a list',
      'options:\n  a: { type: int, description: [x] }',
      ['config.yaml#/options/a/description field_not_text 2:19'],
    ],
    ['an empty name', 'options:\n  "": { type: int }', ['config.yaml#/options/ field_empty 2:3']],
    ['an alias', 'options: &o\n  a: *o', ['config.yaml yaml_alias 1:10', 'config.yaml yaml_alias 2:6']],
  ])('%s is rejected', async (_, options, faults) => {
    expect(faultsOf(await withOptions(options))).toEqual(faults);
  });

  test('a schema above the limit is rejected', async () => {
    const limits = { ...defaultLimits, settings: { ...defaultLimits.settings, schemaBytes: 100 } };
    const entries = formulaEntries(metadataOf(), { 'config.yaml': 'options: { a: { type: int } }' });
    expect(faultsOf(await inspect(entries, {}, limits))).toEqual(['config.yaml schema_too_large']);
  });
});

describe('hooks', () => {
  const related = metadataOf('requires: { db: { interface: mysql } }\n');
  const withFiles = (...files: ZipEntry[]) => inspect([...formulaEntries(related), ...files]);
  const executable = 0o100755;

  test.each<[string, ZipEntry[], string[]]>([
    ['a folder', [{ name: 'hooks/install/', mode: 0o040755 }], ['hooks/install hook_not_file']],
    ['a file below a hook', [{ name: 'hooks/start/run', data: script }], ['hooks/start hook_not_file']],
    [
      'a folder of a relation hook',
      [{ name: 'hooks/db-relation-joined/x' }],
      ['hooks/db-relation-joined hook_not_file'],
    ],
    ['a link', [{ name: 'hooks/install', data: 'x', mode: 0o120777 }], ['hooks/install entry_link']],
    ['a device', [{ name: 'hooks/install', mode: 0o020644 }], ['hooks/install entry_special']],
    ['outside of the package', [{ name: 'hooks/../../x', mode: executable }], ['hooks/../../x entry_name_escapes']],
    [
      'in another case beside it',
      [
        { name: 'hooks/install', data: script, mode: executable },
        { name: 'HOOKS/install', data: script, mode: executable },
      ],
      ['HOOKS/install entry_two_spellings'],
    ],
  ])('%s is rejected', async (_, files, faults) => {
    expect(faultsOf(await withFiles(...files))).toEqual(faults);
  });

  test.each<[string, ZipEntry, string, Record<string, unknown>]>([
    [
      'misspelled',
      { name: 'hooks/db-relation-chnaged', data: script, mode: executable },
      'hooks/db-relation-chnaged hook_unknown',
      { hook: 'db-relation-chnaged', nearest: 'db-relation-changed' },
    ],
    [
      'of another system',
      { name: 'hooks/upgrade-charm', data: script, mode: executable },
      'hooks/upgrade-charm hook_other_system',
      { hook: 'upgrade-charm', replacement: 'upgrade-formula' },
    ],
    [
      'not executable',
      { name: 'hooks/install', data: script, mode: 0o100644 },
      'hooks/install hook_not_executable',
      { hook: 'install' },
    ],
    [
      'with CR LF',
      { name: 'hooks/start', data: '#!/bin/sh\r\nexit 0\r\n', mode: executable },
      'hooks/start script_crlf',
      {},
    ],
  ])('%s: accepted with a warning', async (_, file, warning, params) => {
    const found = await withFiles(file);
    expect(warningsOf(found)).toEqual([warning]);
    expect((found.ok && found.warnings[0]?.params) || {}).toEqual(params);
  });

  test('a time limit of an unknown hook is a warning', async () => {
    const metadata = metadataOf('timeouts: { instal: 5, db-relation-changed: 5 }\n');
    expect(warningsOf(await inspect(formulaEntries(metadata)))).toEqual([
      'metadata.yaml#/timeouts/instal hook_unknown',
      'metadata.yaml#/timeouts/db-relation-changed hook_unknown',
    ]);
  });

  test('more hooks and masked keys than an agent takes are rejected', async () => {
    const names = Array.from({ length: 255 }, (_, n) => `r${String.fromCharCode(97 + (n % 26))}${n}`);
    const peers = metadataOf(`peers:\n${names.map((name) => `  ${name}: { interface: x }\n`).join('')}`);
    const files = ['joined', 'changed', 'departed', 'broken', 'x'].flatMap((event) =>
      names.map((name): ZipEntry => ({ name: `hooks/${name}-relation-${event}`, data: script, mode: executable })),
    );
    const own = ['install', 'start', 'stop', 'config-changed', 'upgrade-formula'].map(
      (name): ZipEntry => ({ name: `hooks/${name}`, data: script, mode: executable }),
    );
    expect(faultsOf(await inspect([...formulaEntries(peers), ...files, ...own]))).toEqual(['hooks hooks_too_many']);
    const masked = metadataOf(`masked: [${Array.from({ length: 257 }, (_, n) => `k${n}`).join(', ')}]\n`);
    const faults = faultsOf(await inspect(formulaEntries(masked)));
    expect(faults).toEqual(['metadata.yaml#/masked masked_too_many 3:1']);
  });

  test('thousands of unknown hooks and relations are compared in little time', async () => {
    const relations = Array.from({ length: 500 }, (_, n) => `  r${String(n).padStart(50, '0')}: { interface: x }\n`);
    const files = Array.from(
      { length: 500 },
      (_, n): ZipEntry => ({ name: `hooks/${'y'.repeat(200)}${n}`, mode: executable }),
    );
    const found = await inspect([...formulaEntries(metadataOf(`peers:\n${relations.join('')}`)), ...files]);
    expect(warningsOf(found)).toHaveLength(101);
  });
});
