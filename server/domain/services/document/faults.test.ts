import { beforeAll, describe, expect, test } from 'vitest';
import { DomainError } from '#server/domain/error.ts';
import { addMachine, listModels } from '#server/domain/topology/index.ts';
import { lab } from '#server/domain/topology/testing/stage.ts';
import { addRelation } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { getDocument } from './get-document.ts';
import { planDocument } from './plan-document.ts';

let stage: ServiceStage;
let sets: string;
let plain: string;

beforeAll(async () => {
  stage = await ServiceStage.open();
  const db = { interface: 'store' };
  await stage.formula('store', '1.0.0.0', { metadata: { provides: { db, backup: { ...db, limit: 1 } } } });
  const settingsSchema = { publicSettings: { type: 'object', properties: { port: { type: 'integer' } } } };
  await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { ...db, limit: 1 } } } });
  await stage.formula('strict', '1.0.0.0', { settingsSchema });
  await stage.formula('web', '2.0.0.0', {});
  await stage.formula('web', '3.0.0.0', { state: 'draft' });
  sets = (await stage.stage.bootstrapped({ name: 'sets', availabilitySetsEnabled: true })).model;
  const staged = await stage.stage.bootstrapped({ name: 'plain', controllers: 1 });
  plain = staged.model;
  await addMachine(stage.ctx, { model: plain }, staged.provider);
  await stage.declare(staged, 'web', { formula: 'Acme.Lab.web', version: '1.0' });
  await stage.declare(staged, 'store', { formula: 'Acme.Lab.store', version: '1.0' });
  await addRelation(stage.ctx, { model: plain, endpoints: ['web', 'store:db'] });
});

const web = { formula: 'Acme.Lab.web', version: '1.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0' };
const head = { annex: 1, model: 'sets', ...lab };

/** Returns the faults of a document as `path code`. */
async function faultsOf(document: unknown, model = sets): Promise<string[]> {
  const error = await planDocument(stage.ctx, { model, document }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw new Error('the document was accepted');
  expect(error.kind).toBe('unprocessable');
  return error.faults.map(({ path, code }) => `${path} ${code}`);
}

const services = (fields: object) => ({ ...head, services: { web: { ...web, ...fields } } });

describe('a document is rejected with every fault by its path', () => {
  test.each<[string, unknown, string[]]>([
    ['no object', [1], [' field_not_object']],
    [
      'an empty one',
      {},
      ['/annex field_missing', '/model field_missing', '/location field_missing', '/storageAccount field_missing'],
    ],
    ['another format', { ...head, annex: 2 }, ['/annex field_choice']],
    ['the name of another model', { ...head, model: 'plain' }, ['/model document_other_model']],
    ['another location', { ...head, location: 'Mars' }, ['/location document_fixed']],
    [
      'another mode',
      { ...head, availabilitySetsEnabled: false },
      ['/availabilitySetsEnabled availability_sets_frozen'],
    ],
    ['other controllers', { ...head, controllers: 3 }, ['/controllers document_fixed']],
    [
      'unknown fields',
      { ...head, extra: 1, services: { web: { ...web, unit: 3 } } },
      ['/services/web/unit field_unknown', '/extra field_unknown'],
    ],
    ['too many units', services({ units: 1e9 }), ['/services/web/units field_too_big']],
    ['fewer than no units', services({ units: -1 }), ['/services/web/units field_too_small']],
    ['half a unit', services({ units: 1.5 }), ['/services/web/units field_invalid']],
    [
      'a chosen machine with availability sets',
      services({ units: { to: [0] } }),
      ['/services/web/units/to/0 unit_placement_unsupported'],
    ],
    ['a machine with availability sets', { ...head, machines: [4] }, ['/machines/0 machine_placement_unsupported']],
    ['a name that no service can have', { ...head, services: { 'web-1': web } }, ['/services/web-1 service_name_form']],
    ['an unknown formula', services({ formula: 'Acme.Lab.none' }), ['/services/web/version version_unknown']],
    ['an unknown version', services({ version: '9.9' }), ['/services/web/version version_unknown']],
    ['a draft', services({ version: '3.0' }), ['/services/web/version version_draft']],
    [
      'settings that break the schema',
      services({ formula: 'Acme.Lab.strict', settings: { port: 'x' } }),
      ['/services/web/settings/port setting_type'],
    ],
    [
      'a relation to a service that it lacks',
      {
        ...services({}),
        relations: [
          ['web', 'store'],
          ['x', 'y'],
        ],
      },
      [
        '/relations/0/1 document_service_missing',
        '/relations/1/0 document_service_missing',
        '/relations/1/1 document_service_missing',
      ],
    ],
    [
      'a relation of a service with itself',
      { ...services({}), relations: [['web', 'web']] },
      ['/relations/0 relation_no_match'],
    ],
    [
      'an ambiguous relation',
      { ...head, services: { web, store }, relations: [['web', 'store']] },
      ['/relations/0 relation_ambiguous'],
    ],
    [
      'a relation twice, in either order',
      {
        ...head,
        services: { web, store },
        relations: [
          ['web', 'store:db'],
          ['store:db', 'web:db'],
        ],
      },
      ['/relations/1 document_relation_twice'],
    ],
    [
      'more relations than an endpoint takes',
      {
        ...head,
        services: { web, store },
        relations: [
          ['web', 'store:db'],
          ['store:backup', 'web:db'],
        ],
      },
      ['/relations/1 relation_limit'],
    ],
    ['a relation of three', { ...services({}), relations: [['web', 'web', 'web']] }, ['/relations/0 field_too_many']],
    [
      'a reserved name',
      JSON.parse(
        `{"annex":1,"model":"sets","location":"West Lab","storageAccount":"labstore","services":{"__proto__":{}}}`,
      ),
      ['/services/__proto__ name_reserved'],
    ],
    [
      'more new units than one request can add',
      { ...head, services: { web: { ...web, units: 1000 } } },
      ['/services units_at_once'],
    ],
  ])('%s', async (_name, document, faults) => {
    expect(await faultsOf(document)).toEqual(faults);
  });

  test('10,000 services, without a check of each', async () => {
    const all = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`s${n}x`, web]));
    expect(await faultsOf({ ...head, services: all })).toEqual(['/services services_too_many']);
  });

  test('10,000 bad services with the first faults only', async () => {
    const all = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`s${n}x`, { formula: 7 }]));
    expect(await faultsOf({ ...head, services: all })).toHaveLength(200);
  });

  test('relations in a circle are not a fault', async () => {
    const metadata = { provides: { out: { interface: 'chain' } }, requires: { in: { interface: 'chain' } } };
    const link = await stage.formula('link', '1.0.0.0', { metadata });
    const relations = [
      ['a:in', 'b:out'],
      ['b:in', 'c:out'],
      ['c:in', 'a:out'],
    ];
    const document = { ...head, services: { a: link, b: link, c: link }, relations };
    const { acts } = await planDocument(stage.ctx, { model: sets, document });
    expect(acts.filter(({ kind }) => kind === 'relate')).toHaveLength(3);
  });

  test('a model that is planned for the first time needs its storage account', async () => {
    const document = { ...head, model: 'brand-new', storageAccount: 'nowhere', services: { web } };
    expect(await faultsOf(document, 'brand-new')).toEqual(['/storageAccount storage_account_unknown']);
  });
});

describe('the document of a model without availability sets', () => {
  const document = async (fields: object) => ({
    ...(await getDocument(stage.ctx, { model: plain })).document,
    ...fields,
  });
  const faults = async (fields: object) => faultsOf(await document(fields), plain);
  const on = (...to: number[]) => ({ services: { web: { ...web, units: { to } }, store } });

  test('names machines that exist, and those that it creates', async () => {
    const { acts, machines } = await planDocument(stage.ctx, { model: plain, document: await document(on(1, 7, 7)) });
    expect(acts).toMatchObject([
      { kind: 'addMachine', machine: 7 },
      {
        kind: 'addUnits',
        units: [{ machine: 1, isNewMachine: false }, { machine: 7, isNewMachine: true }, { machine: 7 }],
      },
    ]);
    expect(machines).toEqual([7]);
  });

  test('names neither controllers, nor machines that are gone, nor numbers that are too high', async () => {
    const path = '/services/web/units/to';
    expect(await faults(on(0, 2_000, 2 ** 31 - 1))).toEqual([0, 1, 2].map((n) => `${path}/${n} placement_unknown`));
  });

  test('limits the units of a machine to the number that an agent runs', async () => {
    const found = await faults(on(...Array.from({ length: 65 }, () => 1)));
    expect(new Set(found.map((fault) => fault.split(' ')[1]))).toEqual(new Set(['units_too_many']));
  });

  test('keeps the formula of a service, and the endpoints of its relations', async () => {
    expect(await faults({ services: { store, web: store }, relations: [] })).toEqual([
      '/services/web/formula service_formula_fixed',
    ]);
    const upgraded = { services: { store, web: { ...web, version: '2.0' } }, relations: [] };
    expect(await faults(upgraded)).toEqual(['/services/web/version formula_lacks_endpoint']);
  });
});

describe('the text of a document', () => {
  const lines = ['annex: 1', 'model: sets', 'location: West Lab', 'storageAccount: labstore'];
  test.each([
    ['an alias', [...lines, 'services: &a { web: *a }'], 'yaml_alias'],
    ['a key twice', [...lines, 'model: sets'], 'yaml_key_twice'],
    ['a tag', [...lines, 'services: !!js/function x'], 'yaml_tag'],
    ['two documents', [...lines, '---', ...lines], 'yaml_documents'],
    ['a broken line', [...lines, 'services: {'], 'yaml_broken'],
    ['10,000 levels', ['['.repeat(10_000)], 'json_too_deep'],
    ['a key twice in JSON', ['{"annex":1,"annex":1}'], 'json_duplicate_key'],
  ])('%s', async (_name, text, code) => {
    const [fault] = await faultsOf(text.join('\n'));
    expect(fault?.split(' ')[1]).toBe(code);
  });

  test('in YAML and in JSON leads to the same plan', async () => {
    const value = { ...head, services: { web: { ...web, settings: { port: 80 } } } };
    const yaml = [...lines, 'services: { web: { formula: Acme.Lab.web, version: "1.0", settings: { port: 80 } } }'];
    const plans = [value, JSON.stringify(value), yaml.join('\n'), Buffer.from(yaml.join('\r\n'))].map((document) =>
      planDocument(stage.ctx, { model: sets, document }),
    );
    expect(new Set((await Promise.all(plans)).map(({ planHash }) => planHash)).size).toBe(1);
  });

  test('with faults changes nothing', async () => {
    expect((await listModels(stage.ctx)).items.map(({ name }) => name)).toEqual(['plain', 'sets']);
  });
});
