import { afterAll, beforeAll, expect, test } from 'vitest';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { buildZip } from '#server/testing/zip.ts';

let door: RestDoor;
const at = { formula: 'Acme.Lab.blog', version: '1.0.0.0' };
const lines = ['annex: 1', 'model: prod', 'location: West Lab', 'storageAccount: labstore'];
const whole = [...lines, 'services:', '  blog: { formula: Acme.Lab.blog, version: 1.0.0.0, units: 2, exposed: true }'];
const yaml = { 'content-type': 'application/yaml' };
const inModel = { model: 'prod' };

beforeAll(async () => {
  door = await openRestDoor();
  await door.expect('createPublisher', {}, 201, { body: { namespace: 'Acme.Lab', displayName: 'Acme' } });
  const body = Uint8Array.from(buildZip(formulaEntries(metadataOf())));
  const headers = { 'content-type': 'application/zip' };
  await door.expect('registerFormulaPackage', at, 201, { as: 'publisher', body, headers });
  await door.expect('publishFormulaVersion', at, 200, { as: 'publisher' });
  await door.expect('setStorageAccount', { name: 'labstore' }, 201, { body: { location: 'West Lab' } });
});
afterAll(() => door.close());

const given = (text: readonly string[], more: object = {}) => ({
  ...{ as: 'operator' as const, body: text.join('\n'), headers: { ...yaml, ...more } },
});

test('JU-39 JU-40 a model is created from a document, read as YAML and as JSON, and planned again', async () => {
  await door.expect('getModelDocument', inModel, [404, 'model_unknown']);
  const plan = await door.expect<{ planHash: string }>('planModelDocument', inModel, 200, given(whole));
  expect(plan).toMatchObject({ revision: null, acts: [{ kind: 'createModel' }, { kind: 'bootstrap' }, {}, {}] });
  const query = `?plan=${plan.planHash}`;
  const applied = await door.expect('applyModelDocument', inModel, 200, { ...given(whole), query });
  expect(applied).toMatchObject({ newUnits: [{ unit: 'blog/0', machine: { machine: 0 } }, { unit: 'blog/1' }] });

  const text = await door.call('GET', '/models/prod/document', { as: 'operator' });
  expect(text.text).toBe(
    [
      ...[
        'annex: 1',
        'availabilitySetsEnabled: true',
        'location: West Lab',
        'model: prod',
        'relations: []',
        'services:',
      ],
      ...['  blog:', '    exposed: true', '    formula: Acme.Lab.blog', '    units: 2', '    version: 1.0.0.0'],
      'storageAccount: labstore\n',
    ].join('\n'),
  );
  expect(text.headers.get('content-type')).toBe('application/yaml');
  const headers = { accept: 'application/json' };
  const { body } = await door.call('GET', '/models/prod/document', { as: 'operator', headers });
  expect(body).toMatchObject({ model: 'prod', services: { blog: { units: 2 } } });
  const again = await door.expect('planModelDocument', inModel, 200, { as: 'operator', body });
  expect(again).toMatchObject({ acts: [], machines: [], hooks: expect.any(Array) });
  expect((await door.call('GET', '/models/prod/document', { headers: { accept: 'image/png' } })).status).toBe(406);
});

test('a plan that is out of date is rejected, and so is a document that another model is named in', async () => {
  const more = given([...whole.slice(0, -1), whole.at(-1)?.replace('units: 2', 'units: 3') ?? '']);
  const { planHash } = await door.expect<{ planHash: string }>('planModelDocument', inModel, 200, more);
  await door.expect('addUnits', { ...inModel, service: 'blog' }, 201, { body: { count: 1 } });
  const query = `?plan=${planHash}`;
  await door.expect('applyModelDocument', inModel, [412, 'plan_moved_on'], { ...more, query });
  await door.expect('planModelDocument', { model: 'other' }, [422, 'document_invalid'], given(whole));
});

test('JU-41 only prune removes what the document leaves out', async () => {
  await door.expect('applyModelDocument', inModel, 200, given(lines));
  expect(await door.expect('listServices', inModel, 200)).toMatchObject({ items: [{ name: 'blog' }] });
  await door.expect('applyModelDocument', inModel, 200, { ...given(lines), query: '?prune=true' });
  expect(await door.expect('listServices', inModel, 200)).toMatchObject({ items: [] });
});

test('faults have the language of the caller', async () => {
  const broken = [...lines, 'services: { blog: { formula: Acme.Lab.blog, version: 1.0.0.0, units: -1, unit: 3 } }'];
  const reply = await door.call('POST', '/models/prod/plan', given(broken, { 'accept-language': 'de' }));
  expect(reply).toMatchObject({
    status: 422,
    body: {
      ...{ code: 'document_invalid', detail: expect.stringContaining('Das Dokument') },
      errors: [
        { path: '/services/blog/units', code: 'field_too_small', message: expect.stringContaining('mindestens') },
        { path: '/services/blog/unit', code: 'field_unknown' },
      ],
    },
  });
  const alias = await door.call('POST', '/models/prod/plan', given([...lines, 'services: *all']));
  expect(alias).toMatchObject({ status: 422, body: { code: 'document_unreadable', errors: [{ code: 'yaml_alias' }] } });
});

test('a document has at most 4 MiB, and viewers get none', async () => {
  const large = given([...lines, `# ${'x'.repeat(4 * 1024 * 1024)}`]);
  await door.expect('planModelDocument', inModel, [413, 'body_too_large'], large);
  await door.expect('planModelDocument', inModel, [415, 'media_type_unsupported'], {
    ...{ body: 'x', headers: { 'content-type': 'image/png' } },
  });
  for (const operation of ['getModelDocument', 'planModelDocument', 'applyModelDocument']) {
    await door.expect(operation, inModel, [403, 'forbidden'], { as: 'viewer' });
  }
});
