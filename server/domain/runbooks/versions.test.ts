import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, executionPlans, executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import {
  getRunbook,
  getRunbookVersion,
  listRunbooks,
  publishRunbookVersion,
  removeRunbookDraft,
  saveRunbookVersion,
  withdrawRunbookVersion,
} from './index.ts';
import { freshName, givenRunbook, greeting, greetingParameters, patient } from './testing/given-runbook.ts';

let author: Context;
beforeAll(async () => {
  author = patient(await testContext({ role: 'publisher', scripts: true }));
});

const contents = { title: 'Greet', plan: greeting, parameters: greetingParameters };
const save = (name: string, given: object = {}) =>
  saveRunbookVersion(author, { ...contents, name, version: '1.0.0', ...given });
const actsOf = async (name: string) => {
  const isIt = and(eq(auditEntries.targetKind, 'runbook'), eq(auditEntries.targetId, name));
  return readActs(author.db, isIt);
};

describe('a draft', () => {
  test('is saved, saved again, published, and then fixed', async () => {
    const name = freshName();
    expect(await save(name)).toMatchObject({ isNew: true, version: { state: 'draft', secretParameters: ['token'] } });
    expect(await save(name)).toMatchObject({ isNew: false, version: { state: 'draft' } });
    expect(await save(name, { title: 'Greet them' })).toMatchObject({ isNew: false, version: { title: 'Greet them' } });
    const reference = { name, version: '1.0.0' };
    expect(await publishRunbookVersion(author, reference)).toMatchObject({
      state: 'published',
      publishedBy: author.actor.name,
    });
    expect(await publishRunbookVersion(author, reference)).toMatchObject({ state: 'published' });
    expect((await save(name, { title: 'Greet them' })).isNew, 'the same contents').toBe(false);
    await expect(save(name)).rejects.toMatchObject({ kind: 'conflict', code: 'runbook_version_fixed' });
    await expect(removeRunbookDraft(author, reference)).rejects.toMatchObject({ code: 'runbook_not_draft' });
    expect((await actsOf(name)).map(({ action }) => action)).toEqual([
      'runbook.save',
      'runbook.save',
      'runbook.publish',
    ]);
  });

  test('is deleted, and its runbook with the last version', async () => {
    const name = freshName();
    await save(name);
    await save(name, { version: '1.1.0' });
    await removeRunbookDraft(author, { name, version: '1.0.0' });
    expect((await getRunbook(author, { name })).versions).toHaveLength(1);
    await removeRunbookDraft(author, { name, version: '1.1.0' });
    await expect(getRunbook(author, { name })).rejects.toMatchObject({ kind: 'not_found', code: 'runbook_unknown' });
  });

  test('keeps the text of its plan', async () => {
    const name = freshName();
    const plan = '{ "FormatVersion": "2.0.0",\n  "Parameters": {"z": 1.0} }';
    await save(name, { plan, parameters: null });
    expect((await getRunbookVersion(author, { name, version: '1.0.0' })).plan).toBe(plan);
  });
});

describe('a published version', () => {
  test('is withdrawn with a reason, which a second call does not change', async () => {
    const reference = await givenRunbook(author);
    expect(await withdrawRunbookVersion(author, { ...reference, reason: 'too slow' })).toMatchObject({
      state: 'withdrawn',
      withdrawnReason: 'too slow',
    });
    expect(await withdrawRunbookVersion(author, { ...reference, reason: 'other' })).toMatchObject({
      withdrawnReason: 'too slow',
    });
    await expect(publishRunbookVersion(author, reference)).rejects.toMatchObject({ code: 'runbook_withdrawn' });
    const acts = await actsOf(reference.name);
    expect(acts.at(-1)).toMatchObject({ action: 'runbook.withdraw', details: { reason: 'too slow' } });
  });

  test('cannot be withdrawn while it is a draft', async () => {
    const reference = await givenRunbook(author, { draft: true });
    await expect(withdrawRunbookVersion(author, { ...reference, reason: 'x' })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'runbook_not_published',
    });
  });
});

describe('a version is rejected', () => {
  const rejected = async (given: object) => {
    const name = freshName();
    const error = await save(name, given).then(
      () => null,
      (reason: { code: string; faults: { path: string; code: string }[] }) => reason,
    );
    await expect(getRunbook(author, { name }), 'nothing is stored').rejects.toMatchObject({ code: 'runbook_unknown' });
    return [error?.code, error?.faults.map(({ path, code }) => `${path} ${code}`)];
  };

  test('with a plan that cannot run, with every fault', async () => {
    expect(await rejected({ plan: { ...greeting, Action: 'x', Files: {} } })).toEqual([
      'plan_invalid',
      ['/plan/Action plan_action', '/plan/Scripts/hello/EntryPoint plan_file_missing'],
    ]);
  });

  test('with an ID and a Stamp, or in the older format', async () => {
    const identity = ['/plan/ID runbook_plan_identity', '/plan/Stamp runbook_plan_identity'];
    expect(await rejected({ plan: { ...greeting, ID: 'a', Stamp: 1 } })).toEqual(['plan_invalid', identity]);
    expect(await rejected({ plan: { Commands: [] }, parameters: null })).toEqual([
      'plan_invalid',
      ['/plan/FormatVersion runbook_plan_format'],
    ]);
  });

  test('with a value for a secret parameter in the plan', async () => {
    const plan = { ...greeting, Parameters: { token: 'hunter2' } };
    expect(await rejected({ plan })).toEqual(['plan_invalid', ['/plan/Parameters/token parameter_secret']]);
  });

  test.each<[what: string, schema: object, fault: string]>([
    [
      'a remote reference',
      { properties: { a: { $ref: 'https://evil.example/schema' } } },
      '/properties/a/$ref schema_reference',
    ],
    ['an invalid pattern', { properties: { a: { pattern: '(' } } }, '/properties/a/pattern schema_pattern'],
    ['a loop', { $ref: '#' }, '/$ref schema_loop'],
    [
      'a secret outside its properties',
      { additionalProperties: { writeOnly: true } },
      '/additionalProperties secret_place',
    ],
  ])('with a schema that has %s', async (_what, parameters, fault) => {
    expect(await rejected({ parameters })).toEqual(['schema_refused', [`/parameters${fault}`]]);
  });

  test('with an invalid name or version', async () => {
    const paths = (given: object) =>
      save(freshName(), given).catch((error: { faults: { code: string }[] }) => error.faults.map(({ code }) => code));
    expect(await paths({ name: '../x' })).toEqual(['runbook_name_form']);
    expect(await paths({ version: '1.0' })).toEqual(['runbook_version_form']);
  });
});

describe('readers', () => {
  test('see every version, and the plan only as operators or with the grant', async () => {
    const reference = await givenRunbook(author);
    const planFor = async (role: 'viewer' | 'operator' | 'publisher', scripts = false) =>
      (await getRunbookVersion(await testContext({ services: author, role, scripts }), reference)).plan;
    expect(await planFor('viewer')).toBeNull();
    expect(await planFor('publisher')).toBeNull();
    expect(await planFor('publisher', true)).toContain('hello.sh');
    expect(await planFor('operator')).toContain('hello.sh');
    await expect(getRunbookVersion(author, { ...reference, version: '9.9.9' })).rejects.toMatchObject({
      code: 'runbook_version_unknown',
    });
  });

  test('cannot write without the grant', async () => {
    const name = freshName();
    for (const role of ['viewer', 'operator', 'publisher'] as const) {
      const ctx = await testContext({ services: author, role });
      const calls = [
        saveRunbookVersion(ctx, { ...contents, name, version: '1.0.0' }),
        publishRunbookVersion(ctx, { name, version: '1.0.0' }),
        withdrawRunbookVersion(ctx, { name, version: '1.0.0', reason: 'x' }),
        removeRunbookDraft(ctx, { name, version: '1.0.0' }),
      ];
      const codes = await Promise.all(calls.map((call) => call.catch((error: { code: string }) => error.code)));
      expect(codes, role).toEqual(codes.map(() => 'scripts_forbidden'));
    }
  });

  test('find a runbook by a part of its name, title or description, with its newest published version', async () => {
    const { name } = await givenRunbook(author, { title: 'Rotate certificates', description: 'Renews what expires.' });
    await givenRunbook(author, { name, version: '1.1.0', draft: true });
    const find = async (q: string) => (await listRunbooks(author, { q })).items.filter((item) => item.name === name);
    expect(await find('ROTATE')).toMatchObject([{ version: '1.0.0', state: 'published', draft: '1.1.0', versions: 2 }]);
    expect(await find('what exp')).toHaveLength(1);
    expect(await find(name)).toHaveLength(1);
    expect(await find('100%')).toEqual([]);
  });

  test('see how it ran in the last 30 days', async () => {
    const { name } = await givenRunbook(author);
    const { vmId } = await givenVm(await testContext({ services: author, role: 'admin' }));
    const states = ['succeeded', 'succeeded', 'failed', 'timed-out', 'cancelled', 'queued'] as const;
    const { sha256 } = await planRow(author);
    for (const [n, state] of states.entries()) await insertRun(vmId, n + 1, { state, runbook: name, sha256 });
    await insertRun(vmId, 99, { state: 'failed', runbook: name, sha256, daysAgo: 31 });
    const runs = { succeeded: 2, failed: 2, other: 1 };
    expect(await getRunbook(author, { name })).toMatchObject({ runs });
    expect((await listRunbooks(author, { q: name })).items).toMatchObject([{ runs }]);
  });
});

async function planRow(ctx: Context) {
  const row = { sha256: 'f'.repeat(64), text: '{}', createdAt: ctx.now };
  await ctx.db.insert(executionPlans).values(row).onConflictDoNothing();
  return row;
}

/** Stores an execution that has ended. */
async function insertRun(
  vmId: string,
  n: number,
  given: { state: typeof executions.$inferSelect.state; runbook: string; sha256: string; daysAgo?: number },
): Promise<void> {
  const queuedAt = new Date(author.now.getTime() - (given.daysAgo ?? 1) * 86_400_000);
  const id = `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  await author.db.insert(executions).values({
    ...{ vmId, id, planId: `${vmId}-${n}`, stamp: n, turn: 1_000 + n, state: given.state, name: 'x', version: '1.0.0' },
    ...{ planSha256: given.sha256, channel: 'https', queuedAt, queuedBy: 'x', validUntil: queuedAt, timeoutSeconds: 1 },
    ...{ runbook: given.runbook, runbookVersion: '1.0.0' },
  });
}
