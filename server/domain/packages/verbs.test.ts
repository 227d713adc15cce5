import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, changes, handlers, handlerVersions, type VersionState } from '#db/schema/index.ts';
import type { Role } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import {
  admitPackage,
  deleteDraft,
  describeVersion,
  getHandler,
  getVersion,
  listDrafts,
  listHandlers,
  setPlatforms,
  setSettingsSchema,
  withdrawVersion,
} from './index.ts';

let services: Services;
let publisher: Context;
let count = 0;
beforeAll(async () => {
  services = await testServices();
  publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Lab'] });
});

type Reference = { handler: string; version: string };
let draft: Reference;
const newVersion = (state: VersionState, version = '1.0.0.0') => {
  count += 1;
  return givenVersion(services.db, { handler: `Acme.Lab.Verbs${count}`, version, state });
};
beforeEach(async () => {
  draft = await newVersion('draft');
});

const as = (role: Role | null, namespaces: string[] = []) => testContext({ services, role, namespaces });
const rowOf = async ({ handler, version }: Reference) => {
  const its = and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version));
  return (await services.db.select().from(handlerVersions).where(its))[0];
};
const actsOf = async ({ handler, version }: Reference) =>
  readActs(services.db, eq(auditEntries.targetId, `${handler}-${version}`));
const changesOf = ({ handler }: Reference) =>
  services.db.$count(changes, and(eq(changes.topic, 'handler'), eq(changes.key, handler)));

type Verb = (ctx: Context, input: never) => Promise<unknown>;
/** The verbs for publishers, each with the input that it needs in addition to the version. */
const publishing: Record<string, [Verb, object]> = {
  admitPackage: [admitPackage, {}],
  deleteDraft: [deleteDraft, {}],
  setPlatforms: [setPlatforms, { platforms: [] }],
  setSettingsSchema: [setSettingsSchema, { schema: {} }],
  withdrawVersion: [withdrawVersion, { reason: 'leaks memory' }],
};
const reading: Record<string, Verb> = { getHandler, getVersion, describeVersion, listHandlers };
const call = (name: string, ctx: Context, changed: object = {}) => {
  const [verb, more] = publishing[name] ?? [reading[name] as Verb, {}];
  return verb(ctx, { ...draft, ...more, ...changed } as never);
};

describe('who may publish', () => {
  test.each(Object.keys(publishing))('%s: publishers of the namespace and administrators', async (name) => {
    for (const role of ['viewer', 'operator'] as const) {
      const expected = { kind: 'forbidden', code: 'forbidden', params: { role: 'publisher' } };
      await expect(call(name, await as(role, ['Acme.Lab'])), role).rejects.toMatchObject(expected);
    }
    await expect(call(name, await as(null))).rejects.toMatchObject({ kind: 'unauthenticated' });
    for (const namespaces of [[], ['Acme'], ['Acme.Lab2'], ['acme.lab'], ['Acme.Lab.Verbs1']]) {
      const expected = { code: 'namespace_forbidden', params: { namespace: 'Acme.Lab' } };
      await expect(call(name, await as('publisher', namespaces))).rejects.toMatchObject(expected);
    }
    const version = name === 'withdrawVersion' ? await newVersion('published') : draft;
    for (const ctx of name === 'deleteDraft' ? [publisher] : [publisher, await as('admin')]) {
      await expect(call(name, ctx, version)).resolves.not.toThrow();
    }
  });

  test.each(Object.keys(reading))('%s: everyone who is signed in', async (name) => {
    for (const role of ['viewer', 'operator', 'publisher', 'admin'] as const) {
      await expect(call(name, await as(role))).resolves.toBeTruthy();
    }
    await expect(call(name, await as(null))).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('an unknown namespace is named to an administrator before a package is received', async () => {
    const expected = { kind: 'not_found', code: 'publisher_unknown', params: { namespace: 'Nobody.Here' } };
    await expect(
      admitPackage(await as('admin'), { handler: 'Nobody.Here.Probe', version: '1.0' }),
    ).rejects.toMatchObject(expected);
  });
});

describe('bad input is named by its path', () => {
  test.each<[name: string, changed: object, faults: object[]]>([
    ['admitPackage', { handler: 'Probe' }, [{ path: '/handler', code: 'handler_form' }]],
    ['admitPackage', { handler: '../Acme.Probe' }, [{ path: '/handler', code: 'handler_form' }]],
    ['admitPackage', { version: '1.0.' }, [{ path: '/version', code: 'version_form' }]],
    [
      'admitPackage',
      { handler: 7, version: undefined },
      [
        { path: '/handler', code: 'field_not_text' },
        { path: '/version', code: 'field_missing' },
      ],
    ],
    ['deleteDraft', { handler: 'x'.repeat(193) }, [{ path: '/handler', code: 'field_too_long' }]],
    ['getVersion', { version: 'x'.repeat(65) }, [{ path: '/version', code: 'field_too_long' }]],
    ['withdrawVersion', { reason: '' }, [{ path: '/reason', code: 'field_empty' }]],
    ['withdrawVersion', { reason: ' \n ' }, [{ path: '/reason', code: 'field_empty' }]],
    ['withdrawVersion', { reason: 'x'.repeat(1_001) }, [{ path: '/reason', code: 'field_too_long' }]],
    ['withdrawVersion', { reason: 'safe\u202egpj.exe' }, [{ path: '/reason', code: 'text_direction' }]],
    ['withdrawVersion', { reason: undefined }, [{ path: '/reason', code: 'field_missing' }]],
    ['setPlatforms', { platforms: 'linux' }, [{ path: '/platforms', code: 'field_not_array' }]],
    ['setPlatforms', { platforms: [{}] }, [{ path: '/platforms/0', code: 'platform_empty' }]],
    ['setPlatforms', { platforms: [{ os: 'linux' }, { os: 'beos' }] }, [{ path: '/platforms/1/os' }]],
    ['setPlatforms', { platforms: [{ arch: 'x86_64' }] }, [{ path: '/platforms/0/arch', code: 'field_choice' }]],
    [
      'setPlatforms',
      { platforms: [{ os: 'linux', cpu: 'x64' }] },
      [{ path: '/platforms/0/cpu', code: 'field_unknown' }],
    ],
    [
      'setPlatforms',
      { platforms: Array.from({ length: 17 }, () => ({ os: 'linux' })) },
      [{ path: '/platforms', code: 'field_too_many', params: { maximum: 16 } }],
    ],
    ['listHandlers', { limit: 0 }, [{ path: '/limit', code: 'field_too_small' }]],
    ['listHandlers', { limit: 201 }, [{ path: '/limit', code: 'field_too_big' }]],
    ['listHandlers', { q: 'x'.repeat(201) }, [{ path: '/q', code: 'field_too_long' }]],
  ])('%s %j', async (name, changed, faults) => {
    const expected = { kind: 'unprocessable', code: 'invalid', faults };
    await expect(call(name, publisher, changed)).rejects.toMatchObject(expected);
    expect(await actsOf(draft)).toEqual([]);
  });

  test.each<[string, unknown, object]>([
    ['no object', 'x', { path: '', code: 'field_not_object' }],
    ['null', null, { path: '', code: 'field_not_object' }],
    ['a list', [], { path: '', code: 'field_not_object' }],
    ['an unknown half', { settings: {} }, { path: '/settings', code: 'field_unknown' }],
    ['a half that is not a schema', { publicSettings: 'text' }, { path: '/publicSettings', code: 'schema_form' }],
    ['a name with a slash', { 'a/b~': {} }, { path: '/a~1b~0', code: 'field_unknown' }],
  ])('setSettingsSchema: %s', async (_, schema, fault) => {
    const expected = { kind: 'unprocessable', code: 'schema_refused', faults: [fault] };
    await expect(setSettingsSchema(publisher, { ...draft, schema })).rejects.toMatchObject(expected);
    expect(await rowOf(draft)).toMatchObject({ settingsSchema: null });
  });

  test.each(['deleteDraft', 'setPlatforms', 'setSettingsSchema', 'withdrawVersion', 'getVersion', 'describeVersion'])(
    '%s of an unknown version: 404',
    async (name) => {
      const unknown = {
        kind: 'not_found',
        code: 'version_unknown',
        params: { handler: draft.handler, version: '7.7' },
      };
      await expect(call(name, publisher, { version: '7.7' })).rejects.toMatchObject(unknown);
      const none = { kind: 'not_found', code: 'not_found' };
      await expect(call(name, publisher, { version: 'newest' })).rejects.toMatchObject(none);
      await expect(call(name, await as('admin'), { handler: 'no handler' })).rejects.toMatchObject(none);
    },
  );
});

describe('what a version allows in each state', () => {
  test.each<[name: string, state: VersionState, outcome: string]>([
    ['deleteDraft', 'draft', 'done'],
    ['deleteDraft', 'published', 'version_not_draft'],
    ['deleteDraft', 'withdrawn', 'version_not_draft'],
    ['setPlatforms', 'draft', 'done'],
    ['setPlatforms', 'published', 'platforms_fixed'],
    ['setPlatforms', 'withdrawn', 'platforms_fixed'],
    ['setSettingsSchema', 'draft', 'done'],
    ['setSettingsSchema', 'published', 'schema_fixed'],
    ['setSettingsSchema', 'withdrawn', 'schema_fixed'],
    ['withdrawVersion', 'draft', 'draft_not_withdrawn'],
    ['withdrawVersion', 'published', 'done'],
    ['withdrawVersion', 'withdrawn', 'done'],
  ])('%s of a %s version: %s', async (name, state, outcome) => {
    const version = await newVersion(state);
    const before = await rowOf(version);
    const done = call(name, publisher, version);
    if (outcome === 'done') return expect(done).resolves.not.toThrow();
    await expect(done).rejects.toMatchObject({ kind: 'conflict', code: outcome, params: { version: '1.0.0.0' } });
    expect(await rowOf(version)).toEqual(before);
    expect([await actsOf(version), await changesOf(version)]).toEqual([[], 0]);
  });

  test('another spelling of the number names the same version, and responses use the registered spelling', async () => {
    const version = await newVersion('draft', '2.1');
    const spelled = { ...version, version: '2.1.0' };
    expect(await setPlatforms(publisher, { ...spelled, platforms: [] })).toMatchObject(version);
    expect(await setSettingsSchema(publisher, { ...spelled, schema: {} })).toMatchObject(version);
    await deleteDraft(publisher, spelled);
    expect(await rowOf(version)).toBeUndefined();
  });
});

describe('setPlatforms', () => {
  test('replaces the list; an empty list means every platform', async () => {
    const linux = [{ os: 'linux' as const, arch: 'x64' as const }, { arch: 'arm64' as const }];
    expect(await setPlatforms(publisher, { ...draft, platforms: linux })).toEqual({ ...draft, platforms: linux });
    expect(await getVersion(publisher, draft)).toMatchObject({ platforms: linux });
    await setPlatforms(publisher, { ...draft, platforms: [] });
    expect(await rowOf(draft)).toMatchObject({ platforms: null });
    expect(await getVersion(publisher, draft)).toMatchObject({ platforms: [] });
  });

  test('records the lists before and after, and announces the handler', async () => {
    await setPlatforms(publisher, { ...draft, platforms: [{ os: 'linux' }] });
    await setPlatforms(publisher, { ...draft, platforms: [{ os: 'windows' }] });
    expect(await actsOf(draft)).toMatchObject([
      { action: 'version.set-platforms', before: [], after: [{ os: 'linux' }], details: draft },
      { action: 'version.set-platforms', before: [{ os: 'linux' }], after: [{ os: 'windows' }] },
    ]);
    expect(await changesOf(draft)).toBe(2);
  });
});

describe('setSettingsSchema', () => {
  test('records the schema before and after, and announces the handler', async () => {
    const schema = { publicSettings: { type: 'object' } };
    await setSettingsSchema(publisher, { ...draft, schema });
    await setSettingsSchema(publisher, { ...draft, schema: {} });
    expect(await actsOf(draft)).toMatchObject([
      { action: 'version.set-schema', before: null, after: schema, details: draft },
      { action: 'version.set-schema', before: schema, after: {} },
    ]);
    expect(await changesOf(draft)).toBe(2);
  });

  test('a half of exactly the limit is accepted, a byte more is not', async () => {
    const limit = services.config.limits.settings.schemaBytes;
    const ofBytes = (bytes: number) => ({ description: 'x'.repeat(bytes - '{"description":""}'.length) });
    await setSettingsSchema(publisher, { ...draft, schema: { protectedSettings: ofBytes(limit) } });
    const larger = { protectedSettings: ofBytes(limit + 1) };
    await expect(setSettingsSchema(publisher, { ...draft, schema: larger })).rejects.toMatchObject({
      faults: [{ path: '/protectedSettings', code: 'schema_too_large', params: { limit } }],
    });
  });
});

describe('withdrawVersion', () => {
  test('stores reason and time, records both, and announces the handler', async () => {
    const version = await newVersion('published');
    const now = new Date('2030-01-01T10:00:00Z');
    const withdrawn = await withdrawVersion({ ...publisher, now }, { ...version, reason: '  leaks memory ' });
    expect(withdrawn).toEqual({ ...version, state: 'withdrawn', reason: 'leaks memory', withdrawnAt: now });
    expect(await rowOf(version)).toMatchObject({ withdrawnAt: now, withdrawnReason: 'leaks memory' });
    expect(await actsOf(version)).toMatchObject([
      {
        ...{ action: 'version.withdraw', actorName: 'Test publisher', before: { state: 'published' } },
        ...{ after: { state: 'withdrawn', reason: 'leaks memory' }, details: { ...version, reason: 'leaks memory' } },
      },
    ]);
    expect(await changesOf(version)).toBe(1);
  });

  test('by two publishers at the same time: one reason and one entry are kept', async () => {
    const version = await newVersion('published');
    const reasons = ['first', 'second', 'third'];
    const answers = await Promise.all(reasons.map((reason) => withdrawVersion(publisher, { ...version, reason })));
    const [{ reason } = { reason: '' }] = answers;
    expect(answers.every((answer) => answer.reason === reason)).toBe(true);
    expect(await rowOf(version)).toMatchObject({ withdrawnReason: reason });
    expect(await actsOf(version)).toHaveLength(1);
  });
});

describe('deleteDraft', () => {
  test('removes a handler with its last version only, and records what it was', async () => {
    const second = await givenVersion(services.db, { handler: draft.handler, version: '2.0', state: 'draft' });
    const before = await rowOf(draft);
    await deleteDraft(publisher, draft);
    expect(await services.db.$count(handlers, eq(handlers.id, draft.handler))).toBe(1);
    expect(await actsOf(draft)).toMatchObject([
      {
        ...{ action: 'version.delete', after: null, details: draft },
        before: { state: 'draft', sha256: before?.sha256, size: before?.size },
      },
    ]);
    await deleteDraft(publisher, second);
    expect(await services.db.$count(handlers, eq(handlers.id, draft.handler))).toBe(0);
    expect(await changesOf(draft)).toBe(2);
  });

  test('by two publishers at the same time: the second publisher gets 404', async () => {
    const both = await Promise.allSettled([deleteDraft(publisher, draft), deleteDraft(publisher, draft)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const rejected = both.find(({ status }) => status === 'rejected');
    expect(rejected).toMatchObject({ reason: { kind: 'not_found', code: 'version_unknown' } });
    expect(await actsOf(draft)).toHaveLength(1);
  });

  test('while another publisher changes the draft leaves no part of it behind', async () => {
    const both = await Promise.allSettled([
      deleteDraft(publisher, draft),
      setPlatforms(publisher, { ...draft, platforms: [{ os: 'linux' }] }),
    ]);
    expect(both[0]).toMatchObject({ status: 'fulfilled' });
    if (both[1].status === 'rejected') expect(both[1].reason).toMatchObject({ code: 'version_unknown' });
    expect(await rowOf(draft)).toBeUndefined();
  });
});

describe('lists', () => {
  test('drafts: the newest fifty, and how many there are', async () => {
    const own = await testServices();
    for (let n = 0; n < 52; n += 1) {
      await givenVersion(own.db, { handler: 'Acme.Many.Probe', version: `1.${n}`, state: 'draft' });
    }
    const many = await testContext({ services: own, role: 'publisher', namespaces: ['Acme.Many', 'Other'] });
    const { items, total } = await listDrafts(many);
    expect([items.length, total]).toEqual([50, 52]);
    const times = items.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(items[0]).toMatchObject({ version: '1.51', createdBy: 'test', warnings: 0 });
    expect(await listDrafts(await testContext({ services: own, role: 'publisher' }))).toEqual({ items: [], total: 0 });
  });

  test.each<[q: string, found: string[]]>([
    ['searched', ['Find.Me.Searched_1', 'Find.Me.Searched2']],
    ['SEARCHED_', ['Find.Me.Searched_1']],
    ['find.me.', ['Find.Me.Searched_1', 'Find.Me.Searched2']],
    ['ed%', []],
    ['\\', []],
  ])('handlers with %s', async (q, found) => {
    for (const handler of ['Find.Me.Searched_1', 'Find.Me.Searched2']) {
      const exists = await services.db.$count(handlers, eq(handlers.id, handler));
      if (exists === 0) await givenVersion(services.db, { handler, state: 'withdrawn' });
    }
    const { items } = await listHandlers(publisher, { q });
    expect(items.map(({ handler }) => handler).toSorted()).toEqual(found.toSorted());
    for (const item of items) {
      expect(item).toMatchObject({ latestVersion: null, versions: { draft: 0, published: 0, withdrawn: 1 } });
    }
  });

  test('a handler changed when its newest version was registered, published or withdrawn', async () => {
    const version = await newVersion('published');
    const changed = async () => (await listHandlers(publisher, { q: version.handler })).items[0]?.changedAt;
    expect(await changed()).toEqual((await rowOf(version))?.publishedAt);
    const now = new Date('2040-01-01T10:00:00Z');
    await withdrawVersion({ ...publisher, now }, { ...version, reason: 'old' });
    expect(await changed()).toEqual(now);
  });

  test('the highest published version is the latest, by number and not by text', async () => {
    const { handler } = await newVersion('published', '1.9');
    for (const [version, state] of [
      ['1.10', 'published'],
      ['1.11', 'withdrawn'],
      ['2.0', 'draft'],
    ] as const) {
      await givenVersion(services.db, { handler, version, state });
    }
    const { items } = await listHandlers(publisher, { q: handler });
    expect(items).toMatchObject([{ latestVersion: '1.10', versions: { draft: 1, published: 2, withdrawn: 1 } }]);
    const { versions } = await getHandler(publisher, { handler });
    expect(versions.map(({ version, state }) => `${version} ${state}`)).toEqual([
      '2.0 draft',
      '1.11 withdrawn',
      '1.10 published',
      '1.9 published',
    ]);
  });

  test('an invalid cursor is rejected', async () => {
    for (const cursor of ['?', 'W10', 'WyJhIiwiYiJd', 'WzFd']) {
      const rejected = { kind: 'bad_request', code: 'cursor_invalid' };
      await expect(listHandlers(publisher, { cursor }), cursor).rejects.toMatchObject(rejected);
    }
  });
});

describe('describeVersion', () => {
  test('lists as many files and warnings as fit, and says how many more there are', async () => {
    const files = Array.from({ length: 20_000 }, (_, n) => ({ name: `${n}/${'x'.repeat(400)}`, size: 1, mode: null }));
    const warnings = Array.from({ length: 2_000 }, (_, n) => ({ path: `f/${n}`, code: 'script_crlf' as const }));
    const its = eq(handlerVersions.handler, draft.handler);
    await services.db.update(handlerVersions).set({ files, warnings }).where(its);
    const described = await describeVersion(publisher, draft);
    expect(Buffer.byteLength(JSON.stringify(described))).toBeLessThan(6 * 1024 * 1024);
    expect(described.files.length + (described.leftOut?.files ?? 0)).toBe(20_000);
    const last = described.warnings.at(-1);
    expect(last).toEqual({ path: '', code: 'more_warnings', params: { count: 2_001 - described.warnings.length } });
    expect((await getVersion(publisher, draft)).files).toHaveLength(20_000);
  });

  test('a short list is complete, and says nothing about more', async () => {
    const described = await describeVersion(publisher, draft);
    expect(described).toMatchObject({ files: [], warnings: [], isDamaged: true });
    expect(described).not.toHaveProperty('leftOut');
  });
});
