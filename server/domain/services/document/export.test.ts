import { describe, expect, test } from 'vitest';
import { lab } from '#server/domain/topology/testing/stage.ts';
import { documentOf } from './document-of.ts';
import { documentLimits, modelDocument } from './schema.ts';
import { faultsOf, type GivenModel, paperModel, planned } from './testing/paper-model.ts';
import { formatDocument, readDocumentText } from './text.ts';

const head = { annex: 1, model: 'prod', ...lab };
const exported = (given: GivenModel) => documentOf(paperModel(given));
const read = (text: string | Uint8Array, depth = 32) => readDocumentText(Buffer.from(text), depth);

/** Returns the codes of the faults of a text. */
function faultsIn(text: string, depth?: number): unknown[] {
  try {
    read(text, depth);
  } catch (error) {
    expect(error).toMatchObject({ kind: 'unprocessable', code: 'document_unreadable' });
    return (error as { faults: { code: string }[] }).faults.map(({ code }) => code);
  }
  throw new Error('the text was accepted');
}

describe('the export of a model', () => {
  test('without services has its place and its mode only', () => {
    expect(exported({})).toEqual({ ...head, availabilitySetsEnabled: true, relations: [], services: {} });
  });

  test('leaves out fields of a service that have their defaults', () => {
    const { services } = exported({ services: { web: { formula: 'web' } } });
    expect(services).toEqual({ web: { formula: 'Acme.Lab.web', version: '1.0.0.0', units: 0 } });
  });

  test('has every field of a service that was set', () => {
    const row = { exposed: true, timeouts: { install: 600 }, atOnceUpgrade: null, atOnceConfigure: 4 };
    const web = { ...{ formula: 'web' as const, version: '2.0.0.0', units: [0, 1] }, given: { z: 1, a: null }, row };
    expect(exported({ services: { web } }).services.web).toEqual({
      ...{ formula: 'Acme.Lab.web', version: '2.0.0.0', units: 2, exposed: true, settings: { a: null, z: 1 } },
      ...{ timeouts: { install: 600 }, upgrade: { atOnce: 'all' }, configure: { atOnce: 4 } },
    });
  });

  test('has no protected value, only that there are some', () => {
    const document = exported({ services: { store: { formula: 'store', secret: '{"key":"violet"}' } } });
    expect(document.services.store?.protectedSettings).toBe('kept');
    expect(formatDocument(document)).not.toMatch(/violet|key/);
  });

  test('has its controllers, and machines without units where they are chosen', () => {
    const given: GivenModel = {
      ...{ availabilitySetsEnabled: false, controllers: 2, machines: [7, 5] },
      services: { web: { formula: 'web', units: [3] } },
    };
    expect(exported(given)).toMatchObject({ controllers: 2, machines: [5, 7], services: { web: { units: 1 } } });
    expect(exported({ machines: [5] })).not.toHaveProperty('machines');
  });

  test('names the machines of a service that shares one', () => {
    const { services } = exported({
      availabilitySetsEnabled: false,
      services: {
        web: { formula: 'web', units: [4, 2] },
        store: { formula: 'store', units: [4] },
        cache: { formula: 'cache', units: [5, 6] },
      },
    });
    expect(services).toMatchObject({
      web: { units: { to: [2, 4] } },
      store: { units: { to: [4] } },
      cache: { units: 2 },
    });
  });

  test('leaves out services, units and relations that leave', () => {
    const document = exported({
      services: {
        web: { formula: 'web', units: [0, 1] },
        store: { formula: 'store', units: [2] },
        old: { formula: 'cache' },
      },
      relations: [['web:db', 'store:db']],
      dying: ['web/1', 'old', 'web:db store:db'],
    });
    expect(Object.keys(document.services)).toEqual(['store', 'web']);
    expect(document).toMatchObject({ relations: [], services: { web: { units: 1 } } });
  });

  test('has names and relations in order, whenever they were declared', () => {
    const given: GivenModel = {
      services: { web: { formula: 'web' }, store: { formula: 'store' }, proxy: { formula: 'proxy' } },
      relations: [
        ['web:db', 'store:db'],
        ['proxy:site', 'web:site'],
      ],
    };
    const document = exported(given);
    expect(Object.keys(document)).toEqual([...Object.keys(document)].sort());
    expect(document.relations).toEqual([
      ['proxy:site', 'web:site'],
      ['web:db', 'store:db'],
    ]);
    const reversed = { ...given, relations: [...(given.relations ?? [])].reverse() };
    expect(formatDocument(exported(reversed))).toBe(formatDocument(document));
  });

  test('JU-39 changes nothing when it is planned, with prune or without', () => {
    const row = { exposed: true, timeouts: { install: 600 }, atOnceUpgrade: null, atOnceConfigure: 4 };
    const given: GivenModel = {
      ...{ availabilitySetsEnabled: false, controllers: 1, machines: [8] },
      services: {
        web: { formula: 'web', units: [1, 2], given: { on: 'yes', n: 1e21 }, row },
        store: { formula: 'store', units: [2], secret: '{"key":"a"}' },
      },
      relations: [['web:db', 'store:db']],
    };
    const { annex, ...fields } = exported(given);
    expect(annex).toBe(1);
    for (const prune of [false, true]) {
      expect(planned(given, fields, prune)).toMatchObject({
        acts: [],
        machines: [],
        left: { units: [], services: [] },
      });
    }
  });
});

describe('the text of a document', () => {
  test('has both endpoints of a relation on one line, and reads as it was', () => {
    const document = exported({
      services: {
        web: {
          formula: 'web',
          given: { on: 'yes', no: 'off', n: '1.0', text: 'a: b\n# c\n', empty: '', deep: [{ x: [] }] },
        },
        store: { formula: 'store' },
      },
      relations: [['web:db', 'store:db']],
    });
    const text = formatDocument(document);
    expect(text.split('\n').filter((line) => /web:db.*store:db/.test(line))).toHaveLength(1);
    expect(text).toMatch(/^annex: 1\n/);
    expect(text).toMatch(/[^\n]\n$/);
    expect(modelDocument.parse(read(text))).toEqual(document);
    expect(modelDocument.parse(read(JSON.stringify(document)))).toEqual(document);
  });

  test.each(['\n\n  {"annex": 1}', '{"annex": 1,}', '{annex: 1}', 'annex: 1 # one', '---\nannex: 1\n', 'annex: 1\r\n'])(
    'reads %j',
    (text) => {
      expect(read(text)).toEqual({ annex: 1 });
    },
  );

  test.each<[string, string, string]>([
    ['a key twice in JSON', '{"services":{"a":1,"a":2}}', 'json_duplicate_key'],
    ['a key twice in YAML', 'services:\n  a: 1\n  a: 2', 'yaml_key_twice'],
    ['an anchor', 'a: &x 1', 'yaml_alias'],
    ['an alias', 'a: *x', 'yaml_alias'],
    ['a tag', 'a: !!binary x', 'yaml_tag'],
    ['two documents', 'a: 1\n---\nb: 2', 'yaml_documents'],
  ])('is rejected with %s', (_name, text, code) => {
    expect(faultsIn(text)).toContain(code);
  });

  test.each<[string, (depth: number) => string]>([
    ['JSON', (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['YAML in one line', (depth) => `a: ${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}`],
    ['YAML by indentation', (depth) => [...Array(depth).keys()].map((n) => `${' '.repeat(n)}a:`).join('\n')],
  ])('may be as deep as values of the portal, in %s', (_name, text) => {
    expect(() => read(text(10), 10)).not.toThrow();
    expect(faultsIn(text(200), 10)).toHaveLength(1);
  });
});

describe('the limits of a document', () => {
  const relation = ['web', 'store'];
  test.each<[string, object, object]>([
    ['relations', ...sized('relations', documentLimits.relations, relation)],
    ['machines', ...sized('machines', documentLimits.machines, 1)],
  ])('of %s', (_name, most, more) => {
    expect(modelDocument.safeParse({ ...head, ...most }).success).toBe(true);
    expect(modelDocument.safeParse({ ...head, ...more }).success).toBe(false);
  });

  test('of units that one apply adds', () => {
    const of = (units: number) => ({
      services: {
        a: { formula: 'Acme.Lab.cache', version: '1.0', units },
        b: { formula: 'Acme.Lab.cache', version: '1.0' },
      },
    });
    expect(faultsOf({}, of(documentLimits.newUnits - 1))).toEqual([]);
    expect(faultsOf({}, of(documentLimits.newUnits))).toEqual(['/services units_at_once']);
  });
});

function sized(field: string, limit: number, value: unknown): [object, object] {
  return [{ [field]: Array(limit).fill(value) }, { [field]: Array(limit + 1).fill(value) }];
}
