import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import de from '#locales/de/errors.json' with { type: 'json' };
import { defaultLimits } from '#server/platform/limits.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { sampleManifest, samplePackage } from '#server/testing/sample-package.ts';

let door: RestDoor;
let zip: Uint8Array<ArrayBuffer>;

const handler = 'Acme.Lab.Probe';
const at = (version: string) => ({ handler, version });
const sent = (body: unknown, more = {}) => ({ as: 'publisher' as const, body, ...more });
const upload = (body: unknown) => sent(body, { headers: { 'content-type': 'application/zip' } });
const resources = (lang: string, ...texts: string[]) => [
  { version: 1.0, lang, messages: texts.map((text, index) => ({ id: String(index + 1), text })) },
];
const paths = (problem: { errors?: { path: string }[] }) => problem.errors?.map(({ path }) => path) ?? [];

beforeAll(async () => {
  // Gives checks of settings more time, because a busy machine starts threads slowly. The time limit of these checks is
  // tested elsewhere.
  const limits = { ...defaultLimits, settings: { ...defaultLimits.settings, checkMs: 15_000 } };
  door = await openRestDoor({ config: { limits } });
  zip = await samplePackage();
});
afterAll(() => door.close());

describe('publishers', () => {
  test('a namespace is created once, whatever the case', async () => {
    const made = { namespace: 'Acme.Lab', displayName: 'Acme' };
    expect(await door.expect('createPublisher', {}, 201, { body: made })).toMatchObject(made);
    await door.expect('createPublisher', {}, [409, 'publisher_taken'], { body: made });
    await door.expect('createPublisher', {}, [409, 'publisher_taken'], { body: { ...made, namespace: 'ACME.lab' } });
    await door.expect('createPublisher', {}, 201, { body: { namespace: 'Other.Lab', displayName: 'Other' } });
  });

  test('one response lists all faults of a body', async () => {
    const body = { namespace: '../x', displayName: '', more: 1 };
    const problem = await door.expect('createPublisher', {}, [422, 'invalid'], { body });
    expect(paths(problem).toSorted()).toEqual(['/displayName', '/more', '/namespace']);
  });

  test('a list continues at its cursor', async () => {
    type Page = { items: { namespace: string }[]; nextCursor: string | null };
    const first = await door.expect<Page>('listPublishers', {}, 200, { as: 'viewer', query: '?limit=1' });
    expect(first.items.map(({ namespace }) => namespace)).toEqual(['Acme.Lab']);
    const cursor = encodeURIComponent(first.nextCursor ?? '');
    const next = await door.expect<Page>('listPublishers', {}, 200, { query: `?limit=1&cursor=${cursor}` });
    expect(next).toMatchObject({ items: [{ namespace: 'Other.Lab' }], nextCursor: null });
    const found = await door.expect<Page>('listPublishers', {}, 200, { query: '?q=OTHER' });
    expect(found.items).toHaveLength(1);
    await door.expect('listPublishers', {}, [400, 'cursor_invalid'], { query: '?cursor=bm90IG1pbmU' });
    const problem = await door.expect('listPublishers', {}, [400, 'invalid'], { query: '?limit=0' });
    expect(paths(problem)).toEqual(['?limit']);
  });
});

describe('a package', () => {
  test('AZ-P6 is registered once, and the same bytes again change nothing', async () => {
    const made = await door.expect('registerPackage', at('1.0.0.0'), 201, upload(zip));
    expect(made).toMatchObject({ ...at('1.0.0.0'), state: 'draft', size: zip.byteLength, warnings: [] });
    expect(await door.expect('registerPackage', at('1.0.0.0'), 200, upload(zip))).toEqual(made);
    const other = await samplePackage(sampleManifest({ reportHeartbeat: false }));
    await door.expect('registerPackage', at('1.0.0.0'), [409, 'draft_other_contents'], upload(other));
  });

  test('a second spelling of a version is rejected', async () => {
    await door.expect('registerPackage', at('1.0'), [409, 'version_other_spelling'], upload(zip));
  });

  test('one response lists all faults, and nothing is stored', async () => {
    const broken = await samplePackage(sampleManifest({ installCommand: '', rebootAfterInstall: 'no' }));
    const problem = await door.expect('registerPackage', at('9.0'), [422, 'package_refused'], upload(broken));
    expect(paths(problem).length).toBeGreaterThanOrEqual(2);
    await door.expect('getVersion', at('9.0'), [404, 'version_unknown'], { as: 'viewer' });
    await door.expect('registerPackage', at('9.0'), 422, upload('no zip at all'));
    await door.expect('registerPackage', at('9.0'), 422, upload(''));
  });

  test('a warning has a message', async () => {
    const bare = await samplePackage(sampleManifest(), { 'bin/update.sh': null });
    const call = { ...upload(bare), headers: { 'content-type': 'application/zip', 'accept-language': 'de' } };
    type Answer = { warnings: { code: string; message: string; path?: string }[] };
    const { warnings } = await door.expect<Answer>('registerPackage', at('1.9.0.0'), 201, call);
    expect(warnings[0]?.message).toMatch(/update\.sh/);
    expect(warnings[0]?.message).not.toMatch(/\b(the|is)\b/);
  });

  test('malformed names are rejected by path', async () => {
    const problem = await door.expect('registerPackage', { handler: 'a b', version: 'x' }, 422, upload(zip));
    expect(paths(problem)).toEqual(['/handler', '/version']);
    await door.expect('getVersion', { handler: 'a b', version: 'x' }, 404);
  });

  test('a namespace without a publisher is 404; the namespace of another publisher is 403', async () => {
    const unknown = { handler: 'Nobody.Here', version: '1.0' };
    await door.expect('registerPackage', unknown, [404, 'publisher_unknown'], { ...upload(zip), as: 'admin' });
    const foreign = { ...upload(zip), as: 'outsider' as const };
    await door.expect('registerPackage', at('2.0'), [403, 'namespace_forbidden'], foreign);
  });

  test('another content type is 415; a package above the limit is 413 before it has arrived', async () => {
    const call = { ...upload(zip), headers: { 'content-type': 'text/html' } };
    await door.expect('registerPackage', at('2.0'), [415, 'media_type_unsupported'], call);
    const small = await openRestDoor({
      db: door.services.db,
      config: {
        limits: {
          ...door.services.config.limits,
          package: { ...door.services.config.limits.package, packedBytes: 10_000 },
        },
      },
    });
    const chunk = new Uint8Array(1_000);
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(chunk);
      },
    });
    const problem = await small.expect('registerPackage', at('2.0'), [413, 'package_too_large'], {
      ...upload(endless),
      as: 'admin',
    });
    expect(problem.detail).toContain('9.8 KiB');
    expect(pulled).toBeLessThan(10_000);
    await small.expect('registerPackage', at('2.0'), [413, 'package_too_large'], {
      ...upload(new Uint8Array(10_001)),
      as: 'admin',
    });
    await small.close();
  });
});

describe('a settings schema', () => {
  const schema = { publicSettings: { type: 'object', properties: { port: { type: 'integer' } } } };

  test('AZ-P7 can be set while the version is a draft', async () => {
    const answer = await door.expect('setSettingsSchema', at('1.0.0.0'), 200, sent(schema));
    expect(answer.settingsSchema).toEqual(schema);
    await door.expect('setSettingsSchema', at('7.7'), [404, 'version_unknown'], sent(schema));
  });

  test('each fault has its path', async () => {
    const remote = { publicSettings: { $ref: 'https://x.test/s' }, protectedSettings: { type: 'nope' }, more: {} };
    const problem = await door.expect('setSettingsSchema', at('1.0.0.0'), 422, sent(remote));
    expect(paths(problem).length).toBeGreaterThan(0);
  });
});

describe('platforms', () => {
  const platforms = [{ os: 'linux', arch: 'x64' }, { arch: 'arm64' }];
  const read = async () => (await door.expect('getVersion', at('1.0.0.0'), 200)).platforms;

  test('are set, shown and cleared while the version is a draft', async () => {
    expect(await read()).toEqual([]);
    const answer = await door.expect('setPlatforms', at('1.0.0.0'), 200, sent({ platforms }));
    expect(answer).toEqual({ ...at('1.0.0.0'), platforms });
    expect(await read()).toEqual(platforms);
    await door.expect('setPlatforms', at('1.0.0.0'), 200, sent({ platforms: [] }));
    expect(await read()).toEqual([]);
    await door.expect('setPlatforms', at('1.0.0.0'), 200, sent({ platforms }));
  });

  test('every fault has its path; a foreign publisher and an unknown version are rejected', async () => {
    const wrong = { platforms: [{ os: 'beos' }, {}, { arch: 'x64', cpu: 4 }] };
    type Problem = { errors: { path: string; code: string }[] };
    const problem = await door.expect<Problem>('setPlatforms', at('1.0.0.0'), 422, sent(wrong));
    expect(problem.errors.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/platforms/0/os field_choice',
      '/platforms/1 platform_empty',
      '/platforms/2/cpu field_unknown',
    ]);
    const foreign = { ...sent({ platforms }), as: 'outsider' as const };
    await door.expect('setPlatforms', at('1.0.0.0'), [403, 'namespace_forbidden'], foreign);
    await door.expect('setPlatforms', at('7.7'), [404, 'version_unknown'], sent({ platforms }));
  });
});

describe('resources', () => {
  test('AZ-L1 a language is set and replaced, even after publishing', async () => {
    const answer = await door.expect('setResources', { ...at('1.0.0.0'), lang: 'de' }, 200, sent(resources('de', 'a')));
    expect(answer).toEqual({ lang: 'de', messages: 1, revision: 1, warnings: [] });
    const refused = await door.expect('publishVersion', at('1.0.0.0'), [422, 'english_missing'], { as: 'publisher' });
    expect(paths(refused).length).toBeGreaterThan(0);
    await door.expect('setResources', { ...at('1.0.0.0'), lang: 'en' }, 200, sent(resources('en', 'one {0}', 'two')));
  });

  test("a translation with different placeholders is a warning in the caller's language", async () => {
    type Answer = { warnings: { code: string; message: string }[] };
    const call = sent(resources('de', 'eins'), { headers: { 'accept-language': 'de' } });
    const { warnings } = await door.expect<Answer>('setResources', { ...at('1.0.0.0'), lang: 'de' }, 200, call);
    expect(warnings.map(({ code }) => code)).toContain('placeholders_differ');
    expect(warnings[0]?.message).not.toBe(warnings[0]?.code);
  });

  test('a different lang in the body, a malformed file and an unknown version are rejected', async () => {
    const wrong = await door.expect('setResources', { ...at('1.0.0.0'), lang: 'ja' }, 422, sent(resources('fr', 'a')));
    expect(JSON.stringify(wrong)).toContain('language_differs');
    await door.expect('setResources', { ...at('1.0.0.0'), lang: 'ja' }, 422, sent([{}]));
    await door.expect('setResources', { ...at('1.0.0.0'), lang: 'ja' }, [422, 'invalid'], sent({}));
    await door.expect(
      'setResources',
      { ...at('7.7'), lang: 'en' },
      [404, 'version_unknown'],
      sent(resources('en', 'a')),
    );
  });

  test('messages are read by language', async () => {
    const viewer = { as: 'viewer' as const };
    const list = await door.expect<{ items: { lang: string }[] }>('listResources', at('1.0.0.0'), 200, viewer);
    expect(list.items.map(({ lang }) => lang)).toEqual(['en', 'de']);
    const german = await door.expect('getResources', { ...at('1.0.0.0'), lang: 'DE' }, 200, viewer);
    expect(german).toMatchObject({ lang: 'de', translated: 1, total: 2, missing: ['2'] });
    await door.expect('getResources', { ...at('1.0.0.0'), lang: 'fr' }, [404, 'not_found'], viewer);
    await door.expect('listResources', at('1.0.0.0'), [400, 'cursor_invalid'], {
      ...viewer,
      query: '?cursor=bm90IG1pbmU',
    });
    await door.expect('listResources', at('7.7'), 404, viewer);
  });
});

describe('XLIFF', () => {
  const german = { ...at('1.0.0.0'), lang: 'de' };
  const file = (body: string, headers = {}) => sent(body, { headers: { 'content-type': 'text/xml', ...headers } });

  test('is exported, previewed after a change, then imported', async () => {
    const path = `/handlers/${handler}/versions/1.0.0.0/resources/de.xlf?xliff=1.2`;
    const reply = await door.call('GET', path, { as: 'viewer' });
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${handler}-1.0.0.0.de.xlf"`);
    await door.expect('exportXliff', german, 200, { as: 'viewer' });
    const back = reply.text.replace('eins', 'erstens {0}');
    const preview = await door.expect('importXliff', german, 200, { ...file(back), query: '?dryRun=true' });
    expect(preview).toMatchObject({ stored: false, changed: 1, changes: [{ before: 'eins', after: 'erstens {0}' }] });
    const call = file(back, { 'if-match': `"${preview.revision}"` });
    expect(await door.expect('importXliff', german, 200, call)).toMatchObject({ stored: true, findings: [] });
    const late = file(back.replace('erstens', 'zuerst'), { 'if-match': `"${preview.revision}"` });
    await door.expect('importXliff', german, [412, 'resources_moved_on'], late);
    const stale = sent(resources('de', 'eins'), { headers: { 'if-match': '"1"' } });
    await door.expect('setResources', german, [412, 'resources_moved_on'], stale);
  });

  test('is rejected for English, for an unknown version, and if it is not XLIFF', async () => {
    await door.expect('exportXliff', { ...german, lang: 'en' }, [422, 'xliff_into_english'], { as: 'viewer' });
    await door.expect('exportXliff', { ...german, version: '7.7' }, [404, 'version_unknown'], { as: 'viewer' });
    await door.expect('importXliff', { ...german, version: '7.7' }, [404, 'version_unknown'], file('<a/>'));
    const laughs = file('<!DOCTYPE x [<!ENTITY a "ha">]><x>&a;</x>');
    expect(await door.expect('importXliff', german, [422, 'xliff_refused'], laughs)).toMatchObject({
      errors: [{ path: '', code: 'xliff_doctype' }],
    });
    await door.expect('importXliff', german, 415, file('<a/>', { 'content-type': 'text/html' }));
    await door.expect('importXliff', german, [400, 'body_missing'], { ...file(''), as: 'admin' });
  });
});

describe('a version', () => {
  const publisher = { as: 'publisher' as const };

  test('is published; then its schema and platforms are fixed', async () => {
    const answer = await door.expect('publishVersion', at('1.0.0.0'), 200, publisher);
    expect(answer).toMatchObject({ ...at('1.0.0.0'), state: 'published', languages: ['de', 'en'] });
    await door.expect('setSettingsSchema', at('1.0.0.0'), [409, 'schema_fixed'], sent({}));
    await door.expect('setPlatforms', at('1.0.0.0'), [409, 'platforms_fixed'], sent({ platforms: [] }));
    await door.expect('deleteDraft', at('1.0.0.0'), [409, 'version_not_draft'], publisher);
    await door.expect('publishVersion', at('7.7'), [404, 'version_unknown'], publisher);
  });

  test('is withdrawn with a reason, if it is published', async () => {
    await door.expect('withdrawVersion', at('1.9.0.0'), [409, 'draft_not_withdrawn'], sent({ reason: 'wrong' }));
    const missing = await door.expect('withdrawVersion', at('1.0.0.0'), [422, 'invalid'], sent({}));
    expect(paths(missing)).toEqual(['/reason']);
    const answer = await door.expect('withdrawVersion', at('1.0.0.0'), 200, sent({ reason: 'leaks' }));
    expect(answer).toMatchObject({ state: 'withdrawn', reason: 'leaks' });
    await door.expect('publishVersion', at('1.0.0.0'), [409, 'version_withdrawn'], publisher);
    await door.expect('withdrawVersion', at('7.7'), [404, 'version_unknown'], sent({ reason: 'x' }));
  });

  test('can be read in any spelling', async () => {
    const viewer = { as: 'viewer' as const };
    const version = await door.expect('getVersion', at('1.0'), 200, viewer);
    expect(version).toMatchObject({ version: '1.0.0.0', state: 'withdrawn', withdrawnReason: 'leaks' });
    expect(await door.expect('getHandler', { handler }, 200, viewer)).toMatchObject({
      handler,
      publisher: 'Acme',
      versions: [{ version: '1.9.0.0' }, { version: '1.0.0.0' }],
    });
    await door.expect('getHandler', { handler: 'Acme.Lab.Nothing' }, [404, 'handler_unknown'], viewer);
    const list = await door.expect<{ items: unknown[] }>('listHandlers', {}, 200, viewer);
    expect(list.items).toHaveLength(1);
  });

  test('is deleted as a draft', async () => {
    await door.expect('deleteDraft', at('1.9.0.0'), 204, publisher);
    const gone = await door.expect('deleteDraft', at('1.9.0.0'), [404, 'version_unknown'], {
      ...publisher,
      headers: { 'accept-language': 'de' },
    });
    expect(gone.title).toBe(de['kind.not_found']);
  });
});

describe('a version in one call', () => {
  type Parts = [name: string, content: BlobPart | unknown][];
  const form = (parts: Parts) => {
    const data = new FormData();
    for (const [name, content] of parts) {
      const part = content instanceof Uint8Array ? content : JSON.stringify(content);
      data.append(name, new Blob([part as BlobPart]), 'file');
    }
    return data;
  };
  const send = (version: string, parts: Parts, query = '') =>
    fetch(`${door.url}/api/v1/handlers/${handler}/versions/${version}${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${door.tokens.publisher}` },
      body: form(parts),
    });
  const schema = { publicSettings: { type: 'object', properties: { port: { type: 'integer' } } } };
  const whole: Parts = [
    ['resources', resources('de', 'Bereit')],
    ['settings-schema', schema],
    ['platforms', { platforms: [{ os: 'linux' }] }],
    ['resources', resources('en', 'Ready')],
  ];
  const faultsOf = async (answer: Response) =>
    ((await answer.json()) as { errors: { path: string; code: string }[] }).errors.map(({ path, code }) => [
      path,
      code,
    ]);
  const isThere = async (version: string) =>
    (await door.call('GET', `/handlers/${handler}/versions/${version}`)).status;

  test('AZ-P7 registers package, schema, platforms and languages, and publishes', async () => {
    const answer = await send('2.0.0.0', [...whole, ['package', zip]], '?publish=true');
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ ...at('2.0.0.0'), state: 'published', languages: ['de', 'en'] });
    const kept = await door.expect('getVersion', at('2.0.0.0'), 200);
    expect(kept).toMatchObject({ settingsSchema: schema, platforms: [{ os: 'linux' }] });
  });

  test('carries over missing parts only if `carry` is set', async () => {
    const own: Parts = [
      ['resources', resources('en', 'Ready {0}')],
      ['package', zip],
    ];
    expect(await (await send('2.0.1.0', own)).json()).toMatchObject({ languages: ['en'] });
    expect(await (await send('2.0.2.0', own, '?carry=false')).json()).toMatchObject({ languages: ['en'] });
    const call = () => send('2.0.3.0', own, '?carry=true&publish=true');
    expect(await (await call()).json()).toMatchObject({ state: 'published', languages: ['de', 'en'] });
    const read = async () => [
      await door.expect('getVersion', at('2.0.3.0'), 200),
      await door.expect('listResources', at('2.0.3.0'), 200),
    ];
    const stored = await read();
    expect(stored).toMatchObject([
      { settingsSchema: schema, settingsSchemaFrom: '2.0.0.0', platforms: [] },
      {
        items: [
          { lang: 'en', carriedFrom: null },
          { lang: 'de', carriedFrom: '2.0.0.0' },
        ],
      },
    ]);
    expect((await call()).status).toBe(200);
    expect(await read()).toEqual(stored);
    const without: Parts = [['package', zip]];
    const english = await send(
      '2.0.4.0',
      [...without, ['resources', resources('de', 'Da')]],
      '?carry=true&publish=true',
    );
    expect(await english.json()).toMatchObject({ state: 'published', languages: ['de', 'en'] });
    expect((await send('2.0.5.0', without, '?carry=perhaps')).status).toBe(400);
  });

  test('the upload of a package carries over on request, too', async () => {
    const call = { ...upload(zip), query: '?carry=true' };
    await door.expect('registerPackage', at('2.0.6.0'), 201, call);
    await door.expect('registerPackage', at('2.0.6.0'), 200, call);
    const languages = await door.expect('listResources', at('2.0.6.0'), 200);
    expect(languages).toMatchObject({ items: [{ lang: 'en' }, { lang: 'de', carriedFrom: '2.0.4.0' }] });
  });

  test('what a version loses is listed', async () => {
    await send('2.0.7.0', [
      ['package', zip],
      ['resources', resources('en', 'Ready')],
      ['settings-schema', {}],
    ]);
    expect(await door.expect('listLosses', at('2.0.7.0'), 200, { as: 'viewer' })).toMatchObject({
      previous: '2.0.4.0',
      languages: ['de'],
      placeholders: { items: [{ lang: 'en', id: '1', before: [0], after: [] }], total: 1 },
      settings: { removed: ['/publicSettings'], required: [] },
    });
    await door.expect('listLosses', at('7.7'), [404, 'version_unknown'], { as: 'viewer' });
    for (const version of ['2.0.1.0', '2.0.2.0', '2.0.6.0', '2.0.7.0']) {
      await door.expect('deleteDraft', at(version), 204, { as: 'publisher' });
    }
  });

  test('the same call again changes nothing', async () => {
    const before = await door.call('GET', `/handlers/${handler}/versions/2.0.0.0/resources/de`);
    const answer = await send('2.0.0.0', [['package', zip], ...whole], '?publish=true');
    expect(answer.status).toBe(200);
    expect((await door.call('GET', `/handlers/${handler}/versions/2.0.0.0/resources/de`)).body).toEqual(before.body);
  });

  test('one response lists the faults of all parts, and no version is registered', async () => {
    const broken: Parts = [
      ['package', await samplePackage(sampleManifest({ enableCommand: 5 }))],
      ['settings-schema', { publicSettings: { type: 'nothing' } }],
      ['platforms', { platforms: [{ os: 'beos' }] }],
      ['resources', [{ version: 1.0, lang: 'de', messages: [{ id: 'a' }] }]],
    ];
    const answer = await send('2.1.0.0', broken);
    expect(answer.status).toBe(422);
    expect(await faultsOf(answer)).toEqual([
      ['package/HandlerManifest.json#/0/handlerManifest/enableCommand', 'field_not_text'],
      ['settings-schema#/publicSettings/type', expect.any(String)],
      ['platforms#/platforms/0/os', 'field_choice'],
      ['resources/de#/0/messages/0/text', 'field_missing'],
    ]);
    expect(await isThere('2.1.0.0')).toBe(404);
  });

  test('a valid package is not registered if a language is faulty', async () => {
    const answer = await send(
      '2.1.0.0',
      [
        ['package', zip],
        ['resources', resources('de', 'Bereit')],
      ],
      '?publish=true',
    );
    expect([answer.status, await faultsOf(answer)]).toEqual([422, [['resources#/resources/en', 'english_missing']]]);
    expect(await isThere('2.1.0.0')).toBe(404);
  });

  test('parts that are missing, unknown, sent twice or not JSON are named', async () => {
    const answer = await send('2.1.0.0', [
      ['settings-schema', {}],
      ['settings-schema', {}],
      ['resources', new TextEncoder().encode('{')],
      ['more', 1],
    ]);
    expect(await faultsOf(answer)).toEqual([
      ['settings-schema', 'form_part_twice'],
      ['resources', 'json_malformed'],
      ['', 'form_part_unknown'],
      ['package', 'form_part_missing'],
    ]);
  });

  test('a truncated form is rejected and leaves nothing', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const body = '--x\r\ncontent-disposition: form-data; name="package"; filename="a"\r\n\r\nPK';
    await door.expect('registerVersion', at('2.1.0.0'), [400, 'form_malformed'], sent(body, { headers }));
    await door.expect('registerVersion', at('2.1.0.0'), [415, 'media_type_unsupported'], upload(zip));
    const nameless = { headers: { 'content-type': 'multipart/form-data' } };
    await door.expect('registerVersion', at('2.1.0.0'), [400, 'form_malformed'], sent(body, nameless));
    await door.expect('registerVersion', at('2.1.0.0'), 403, { ...sent(body, { headers }), as: 'outsider' });
    await door.expect('registerVersion', { handler: 'Nobody.Lab.X', version: '1' }, [404, 'publisher_unknown'], {
      ...sent(body, { headers }),
      as: 'admin',
    });
    expect(await isThere('2.1.0.0')).toBe(404);
  });

  const part = (headers: string, content: string) => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
  const named = (name: string) => `content-disposition: form-data; name="${name}"`;
  const large = 'z'.repeat(300_000);
  const sendText = (body: string | ReadableStream) =>
    fetch(`${door.url}/api/v1/handlers/${handler}/versions/2.1.0.0`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${door.tokens.publisher}`,
        'content-type': 'multipart/form-data; boundary="x"',
      },
      body,
      duplex: 'half',
    } as RequestInit);

  test.each([
    ['a truncated part', `--x\r\n${named('resources')}\r\n\r\n{"a":`],
    ['a part whose headers do not end', '--x\r\nfoo\r\n--x--\r\n'],
    [
      'a part whose headers do not end, before another part',
      `--x\r\nfoo\r\n${part(named('resources'), '{}')}--x--\r\n`,
    ],
    ['a large part without a name', `${part('x-more: 1', large)}${part(named('resources'), '{}')}--x--\r\n`],
    ['several large parts without names', `${part('x-more: 1', large).repeat(8)}--x--\r\n`],
    ['text that is not a form', large],
    ['only the end marker', `--x--\r\n${large}`],
  ])('a form is rejected soon: %s', { timeout: 8_000 }, async (_, body) => {
    const answer = await sendText(body);
    const { code } = (await answer.json()) as { code: string };
    expect(['400 form_malformed', '422 version_invalid']).toContain(`${answer.status} ${code}`);
  });

  test('bytes after the end of a form are ignored, however late they arrive', { timeout: 8_000 }, async () => {
    const body = new ReadableStream({
      async start(stream) {
        const encode = (text: string) => stream.enqueue(new TextEncoder().encode(text));
        encode(`${part(named('resources'), '{')}${part(named('more'), '1')}--`);
        for (const late of ['x-', '-', '\r\n', large, large, large]) {
          await new Promise((resolve) => setImmediate(resolve));
          encode(late);
        }
        stream.close();
      },
    });
    const answer = await sendText(body);
    expect(await faultsOf(answer)).toEqual([
      ['resources', 'json_malformed'],
      ['', 'form_part_unknown'],
      ['package', 'form_part_missing'],
    ]);
  });
});

test('every documented status of these calls was received', () => {
  const calls = [
    ...['createPublisher', 'listPublishers', 'listHandlers', 'getHandler', 'registerPackage', 'getVersion'],
    ...['deleteDraft', 'setSettingsSchema', 'setPlatforms', 'publishVersion', 'withdrawVersion', 'listLosses'],
    ...['setResources', 'listResources', 'getResources', 'exportXliff', 'importXliff'],
  ];
  expect(door.unmet(calls)).toEqual([]);
});
