import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { samplePackage } from '#server/testing/sample-package.ts';
import { buildZip } from '#server/testing/zip.ts';
import { formulaRoutes, handlerPackageRoutes } from './routes/formulas.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;
const formula = 'Acme.Lab.blog';
const handler = 'Acme.Lab.Probe';
const at = (version: string) => ({ formula, version });
const sent = (body: unknown, more = {}) => ({ as: 'publisher' as const, body, ...more });
const upload = (body: unknown) => sent(body, { headers: { 'content-type': 'application/zip' } });
const zipOf = (...more: Parameters<typeof formulaEntries>) => Uint8Array.from(buildZip(formulaEntries(...more)));
const options = { 'config.yaml': 'options: { title: { type: string, default: My blog } }\n' };
const blog = zipOf(metadataOf('requires: { db: { interface: mysql } }\n'), options);
const messages = [{ version: 1.0, lang: 'en', messages: [{ id: 'no_database', text: 'No database at {0}.' }] }];

beforeAll(async () => {
  door = await openRestDoor();
  await door.expect('createPublisher', {}, 201, { body: { namespace: 'Acme.Lab', displayName: 'Acme' } });
  await door.expect('registerFormulaPackage', at('1.0.0.0'), 201, upload(blog));
  await door.expect('registerPackage', { handler, version: '1.0.0.0' }, 201, upload(await samplePackage()));
});
afterAll(() => door.close());

describe('a formula', () => {
  test('has its manifest and the settings schema of its options', async () => {
    const version = await door.expect('getFormulaVersion', at('1.0'), 200, { as: 'viewer' });
    expect(version).toMatchObject({
      handler: formula,
      state: 'draft',
      manifest: { name: 'blog', requires: { db: { interface: 'mysql', limit: 1, optional: false } }, hooks: [] },
      settingsSchema: { publicSettings: { properties: { title: { default: 'My blog' } } } },
    });
  });

  test('gets messages and another schema, is published and withdrawn like a handler', async () => {
    const schema = { publicSettings: { type: 'object' }, protectedSettings: { type: 'object' } };
    await door.expect('setFormulaResources', { ...at('1.0.0.0'), lang: 'en' }, 200, sent(messages));
    await door.expect('setFormulaSettingsSchema', at('1.0.0.0'), 200, sent(schema));
    const published = await door.expect('publishFormulaVersion', at('1.0.0.0'), 200, { as: 'publisher' });
    expect(published).toMatchObject({ state: 'published', languages: ['en'], manifest: { name: 'blog' } });
    await door.expect('setFormulaSettingsSchema', at('1.0.0.0'), [409, 'schema_fixed'], sent(schema));
    const reason = 'superseded';
    expect(await door.expect('withdrawFormulaVersion', at('1.0.0.0'), 200, sent({ reason }))).toMatchObject({ reason });
  });

  test('is deleted as a draft', async () => {
    await door.expect('registerFormulaPackage', at('1.1'), 201, upload(zipOf()));
    await door.expect('deleteFormulaDraft', at('1.1'), 204, { as: 'publisher' });
    await door.expect('getFormulaVersion', at('1.1'), [404, 'version_unknown']);
  });

  test('is uploaded with all its parts in one call', async () => {
    const form = new FormData();
    form.append('package', new Blob([blog], { type: 'application/zip' }), 'blog.zip');
    form.append('resources', new Blob([JSON.stringify(messages)], { type: 'application/json' }));
    const body = new Response(form);
    const headers = { 'content-type': body.headers.get('content-type') ?? '' };
    const call = { ...sent(new Uint8Array(await body.arrayBuffer()), { headers }), query: '?publish=true' };
    const stored = await door.expect('registerFormulaVersion', at('1.2'), 201, call);
    expect(stored).toMatchObject({ state: 'published', languages: ['en'], manifest: { name: 'blog' } });
  });

  test('needs the rights of its namespace', async () => {
    await door.expect('registerFormulaPackage', at('3.0'), [403, 'namespace_forbidden'], {
      ...upload(blog),
      as: 'outsider',
    });
  });

  test('with faults is rejected, and each fault has a sentence with its line', async () => {
    type Problem = { errors: { path: string; code: string; message: string }[] };
    const broken = zipOf('name: &n blog\n');
    const { errors } = await door.expect<Problem>(
      'registerFormulaPackage',
      at('4.0'),
      [422, 'package_refused'],
      upload(broken),
    );
    expect(errors.map(({ path, code }) => `${path} ${code}`)).toEqual(['metadata.yaml yaml_alias']);
    expect(errors[0]?.message).toContain('line 1, column 7');
  });
});

describe('each kind has its own paths', () => {
  test('a list has only its kind', async () => {
    type Page = { items: { handler: string; kind: string }[] };
    const ids = async (operation: string) =>
      (await door.expect<Page>(operation, {}, 200)).items.map((row) => row.handler);
    expect(await ids('listHandlers')).toEqual([handler]);
    expect(await ids('listFormulas')).toEqual([formula]);
    expect(await door.expect('getFormula', { formula }, 200)).toMatchObject({ handler: formula, kind: 'formula' });
  });

  test('the other path is 404 and names the right one', async () => {
    const version = '1.0.0.0';
    type Problem = { detail: string };
    const atHandlers = await door.expect<Problem>('getHandler', { handler: formula }, [404, 'handler_is_formula']);
    expect(atHandlers.detail).toContain('/formulas/Acme.Lab.blog');
    const atFormulas = await door.expect<Problem>('getFormula', { formula: handler }, [404, 'formula_is_handler']);
    expect(atFormulas.detail).toContain('/handlers/Acme.Lab.Probe');
    await door.expect('getVersion', { handler: formula, version }, [404, 'handler_is_formula']);
    await door.expect('publishFormulaVersion', { formula: handler, version }, [404, 'formula_is_handler']);
    await door.expect('getAutomaticUpgrades', { handler: formula }, [404, 'handler_is_formula']);
    const zip = upload(blog);
    await door.expect('registerPackage', { handler: formula, version: '9.0' }, [404, 'handler_is_formula'], zip);
  });

  test('a package of the other kind is rejected', async () => {
    await door.expect('registerPackage', { handler, version: '9.0' }, [422, 'package_refused'], upload(blog));
    const zip = upload(await samplePackage());
    await door.expect('registerFormulaPackage', at('9.0'), [422, 'package_refused'], zip);
  });

  test('every call for handlers exists for formulas', () => {
    const shapeOf = ({ method, path }: { method: string; path: string }) =>
      `${method} ${path.replace('/formulas', '/handlers').replace('{formula}', '{handler}')}`;
    expect(formulaRoutes.map(shapeOf)).toEqual(handlerPackageRoutes.map(shapeOf));
    for (const { summary, operationId } of formulaRoutes) {
      expect(operationId).toContain('Formula');
      expect(summary).not.toContain('VM');
    }
    expect(routes.filter(({ path }) => path.startsWith('/formulas'))).toHaveLength(formulaRoutes.length);
  });
});
