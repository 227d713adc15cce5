import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { agents, enrollmentTokens } from '#db/schema/index.ts';
import { type Actor, anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { clearExpiredTokens } from './clear-expired-tokens.ts';
import { enrollAgent } from './enroll-agent.ts';
import { issueEnrollmentToken } from './issue-token.ts';
import { registerVm } from './register-vm.ts';

let services: Services;
let db: Database;
let operator: Context;
let count = 0;
const unknownVm = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  operator = await testContext({ services, role: 'operator' });
});

const nextName = () => {
  count += 1;
  return `vm-${count}`;
};
const register = (ctx = operator) => registerVm(ctx, { name: nextName() });
const tokensOf = (vmId: string) =>
  db.select().from(enrollmentTokens).where(eq(enrollmentTokens.vmId, vmId)).orderBy(enrollmentTokens.createdAt);
const enrollWith = async (enrollmentToken: string, now = operator.now) => {
  const { certificate } = newKeyPair();
  const request = { enrollmentToken, certificate, agent: { name: 'test', version: '1' } };
  return enrollAgent(await testContext({ services, role: null, now }), request);
};

describe('a token', () => {
  const callers: [string, Actor, string][] = [
    ['an operator', testActor('operator'), 'done'],
    ['an admin', testActor('admin'), 'done'],
    ['a viewer', testActor('viewer'), 'forbidden forbidden'],
    ['a publisher', testActor('publisher'), 'forbidden forbidden'],
    ['an anonymous caller', anonymous, 'unauthenticated unauthenticated'],
    [
      'an agent',
      { kind: 'agent', id: unknownVm, name: 'web', role: null, namespaces: [] },
      'forbidden factor_required',
    ],
  ];
  test.each(callers)('comes from %s: %s', async (_, actor, expected) => {
    const { id: vmId } = await register();
    const ctx = await testContext({ services, actor });
    expect(await outcomeOf(issueEnrollmentToken(ctx, { vmId }))).toBe(expected);
    expect(await outcomeOf(registerVm(ctx, { name: nextName() }))).toBe(expected);
    expect(await tokensOf(vmId)).toHaveLength(expected === 'done' ? 2 : 1);
  });

  test('is valid for 24 hours, belongs to its issuer, and is stored as a hash only', async () => {
    const { id: vmId, enrollmentToken, enrollmentExpiresAt } = await register();
    expect(enrollmentToken).toMatch(/^annex_enroll_[\w-]{43}$/);
    expect(new Date(enrollmentExpiresAt).getTime() - operator.now.getTime()).toBe(24 * 3_600_000);
    expect(await tokensOf(vmId)).toEqual([
      {
        vmId,
        tokenHash: sha256Hex(enrollmentToken),
        createdAt: operator.now,
        issuedBy: 'user:test-operator',
        issuedByName: 'Test operator',
        expiresAt: new Date(enrollmentExpiresAt),
        voidedAt: null,
        usedAt: null,
        usedKey: null,
      },
    ]);
  });

  test('replaces the previous token of this VM only', async () => {
    const [vm, other] = [await register(), await register()];
    const { enrollmentToken } = await issueEnrollmentToken(operator, { vmId: vm.id });
    expect((await tokensOf(vm.id)).filter(({ voidedAt }) => voidedAt === null)).toMatchObject([
      { tokenHash: sha256Hex(enrollmentToken) },
    ]);
    expect(await outcomeOf(enrollWith(vm.enrollmentToken))).toBe('unauthenticated enrollment_refused');
    expect(await outcomeOf(enrollWith(enrollmentToken))).toBe('done');
    expect(await outcomeOf(enrollWith(other.enrollmentToken))).toBe('done');
  });

  test('does not invalidate a token that a machine has used', async () => {
    const { id: vmId, enrollmentToken } = await register();
    await enrollWith(enrollmentToken);
    await issueEnrollmentToken(operator, { vmId });
    const used = (await tokensOf(vmId)).find(({ usedAt }) => usedAt !== null);
    expect(used).toMatchObject({ tokenHash: sha256Hex(enrollmentToken), voidedAt: null });
  });

  test('is the only valid one, even if several people issue tokens at the same time', async () => {
    const { id: vmId } = await register();
    const issued = await Promise.all([1, 2, 3].map(() => issueEnrollmentToken(operator, { vmId })));
    expect(new Set(issued.map(({ enrollmentToken }) => enrollmentToken)).size).toBe(3);
    const valid = (await tokensOf(vmId)).filter(({ voidedAt }) => voidedAt === null);
    expect(valid).toHaveLength(1);
  });

  test('is recorded as an act and a change, without the token itself', async () => {
    const { id: vmId, name } = await register();
    const mark = await markOf(db);
    const issued = await issueEnrollmentToken(operator, { vmId });
    expect(issued).toMatchObject({ id: vmId, name });
    const acts = await actsSince(db, mark, vmId);
    expect(acts).toMatchObject([{ action: 'enrollment-token.issue', targetKind: 'vm', targetId: vmId, after: null }]);
    expect(JSON.stringify(acts)).not.toContain(issued.enrollmentToken);
    expect(await changesSince(db, mark)).toEqual([`vm ${vmId}`]);
  });

  test.each<[string, () => Promise<string>, string]>([
    ['an id that is none', async () => 'web', 'unprocessable invalid; /vmId field_format'],
    ['a VM that does not exist', async () => unknownVm, 'not_found vm_unknown'],
    [
      'a deleted VM',
      async () => {
        const { id: vmId } = await register();
        await removeVm(operator, { vmId });
        return vmId;
      },
      'not_found vm_unknown',
    ],
    [
      'a VM with a stock agent',
      async () => {
        const { id: vmId } = await register();
        const agent = { name: 'WALinuxAgent', version: '', os: {}, certificate: '', thumbprint: '', keyHash: vmId };
        await db
          .insert(agents)
          .values({ ...agent, vmId, kind: 'stock', credentialHash: vmId, enrolledAt: operator.now });
        return vmId;
      },
      'conflict vm_has_stock_agent',
    ],
  ])('is not issued for %s', async (_, given, expected) => {
    expect(await outcomeOf(issueEnrollmentToken(operator, { vmId: await given() }))).toBe(expected);
  });
});

describe('a new VM', () => {
  test('has an empty goal state, a token and one act', async () => {
    const mark = await markOf(db);
    const { id: vmId, name } = await registerVm(operator, { name: nextName(), tags: { env: 'prod' } });
    expect(await actsSince(db, mark, vmId)).toMatchObject([
      { action: 'vm.create', targetKind: 'vm', targetId: vmId, actorName: 'Test operator' },
    ]);
    expect(await changesSince(db, mark)).toContain(`vm ${vmId}`);
    const { rows } = await db.$client.query(
      'select name, tags, incarnation from vms join goal_state_heads on id = vm_id where id = $1',
      [vmId],
    );
    expect(rows).toEqual([{ name, tags: { env: 'prod' }, incarnation: 1 }]);
  });

  test.each<[string, object, string]>([
    ['no name', {}, '/name field_missing'],
    ['an empty name', { name: '' }, '/name field_empty'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, '/name field_too_long'],
    ['a name with a space', { name: 'web 1' }, '/name vm_name_form'],
    ['a tag that is not text', { name: 'web', tags: { env: 1 } }, '/tags/env field_not_text'],
    ['a tag that turns the direction of text', { name: 'web', tags: { env: '\u202e' } }, '/tags/env text_direction'],
  ])('with %s is rejected by path', async (_, input, fault) => {
    const created = registerVm(operator, input as Parameters<typeof registerVm>[1]);
    expect(await outcomeOf(created)).toBe(`unprocessable invalid; ${fault}`);
  });

  test('with a name that two people use at the same time is created once', async () => {
    const name = nextName();
    const found = await Promise.all([1, 2].map(() => outcomeOf(registerVm(operator, { name }))));
    expect(found.map((outcome) => outcome.split(';')[0]).sort()).toEqual(['conflict vm_name_taken', 'done']);
  });
});

describe('tokens are cleared', () => {
  const dayMs = 24 * 60 * 60_000;
  test.each<[string, number, number | null, boolean]>([
    ['that are valid', -1, null, false],
    ['that expired today', 0.5, null, false],
    ['that expired at the limit', 0, null, false],
    ['that expired before the limit', 400, null, true],
    ['that expired before the limit and were used after it', 400, 1, false],
    ['that expired and were used before the limit', 400, 400, true],
  ])('%s', async (_, expiredDays, usedDays, cleared) => {
    await db.delete(enrollmentTokens);
    const now = new Date();
    const ago = (days: number) => new Date(now.getTime() - days * dayMs);
    const { id: vmId, enrollmentToken } = await register();
    const atLimit = expiredDays === 0 ? services.config.keptDays.ended : expiredDays;
    await db
      .update(enrollmentTokens)
      .set({ expiresAt: ago(atLimit), usedAt: usedDays === null ? null : ago(usedDays) })
      .where(eq(enrollmentTokens.tokenHash, sha256Hex(enrollmentToken)));
    expect(await clearExpiredTokens(services, now)).toBe(cleared ? 1 : 0);
    expect(await tokensOf(vmId)).toHaveLength(cleared ? 0 : 1);
  });
});
