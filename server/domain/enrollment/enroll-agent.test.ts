import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import {
  agentPresence,
  agentRefusals,
  agents,
  enrollmentTokens,
  goalStateHeads,
  pendingRestarts,
} from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type KeyPair, newKeyPair, proofOf, signed } from '#server/testing/key-pair.ts';
import { actsSince, changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { enrollAgent } from './enroll-agent.ts';
import { issueEnrollmentToken } from './issue-token.ts';
import { registerVm } from './register-vm.ts';
import { renewCertificate } from './renew-certificate.ts';

let services: Services;
let db: Database;
let operator: Context;
let count = 0;
const minutes = (n: number) => new Date(operator.now.getTime() + n * 60_000);

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  operator = await testContext({ services, role: 'operator' });
});

async function newVm(): Promise<{ vmId: string; token: string }> {
  count += 1;
  const { id: vmId, enrollmentToken: token } = await registerVm(operator, { name: `enroll-${count}` });
  return { vmId, token };
}

const machine = async (now = operator.now, own = services) => testContext({ services: own, role: null, now });
interface Call {
  pair?: KeyPair;
  now?: Date;
  proof?: string;
  more?: object;
  services?: Services;
}
async function enroll(token: string, { pair = newKeyPair(), now, proof, more, services: own }: Call = {}) {
  const agent = { name: 'annex-agent', version: '1.2' };
  const request = { enrollmentToken: token, certificate: pair.certificate, agent, ...(proof && { proof }), ...more };
  return enrollAgent(await machine(now, own), request);
}
const agentOf = async (vmId: string) => (await db.select().from(agents).where(eq(agents.vmId, vmId)))[0];
const refused = 'unauthenticated enrollment_refused';

describe('a token enrolls', () => {
  test.each<[string, (token: string, vmId: string) => Promise<unknown>, string]>([
    ['a machine', (token) => enroll(token), 'done'],
    ['a machine at its last moment', (token) => enroll(token, { now: minutes(24 * 60 - 0.001) }), 'done'],
    ['no machine when it expires', (token) => enroll(token, { now: minutes(24 * 60) }), refused],
    ['no machine with another token', (token) => enroll(`${token}x`), refused],
    [
      'no second machine',
      async (token) => {
        await enroll(token);
        await enroll(token);
      },
      refused,
    ],
    [
      'no machine once it was replaced',
      async (token, vmId) => {
        await issueEnrollmentToken(operator, { vmId });
        await enroll(token);
      },
      refused,
    ],
    [
      'no machine of a deleted VM',
      async (token, vmId) => {
        await removeVm(operator, { vmId });
        await enroll(token);
      },
      refused,
    ],
  ])('%s', async (_, act, expected) => {
    const { vmId, token } = await newVm();
    expect(await outcomeOf(act(token, vmId))).toBe(expected);
  });

  test.each([
    [0, 'done'],
    [9.999, 'done'],
    [10, 'done'],
    [10.001, refused],
  ])('the same key again after %s minutes: %s', async (later, expected) => {
    const { token } = await newVm();
    const pair = newKeyPair();
    const first = await enroll(token, { pair });
    const mark = await markOf(db);
    let again: unknown;
    const outcome = await outcomeOf(enroll(token, { pair, now: minutes(later) }).then((answer) => (again = answer)));
    expect(outcome).toBe(expected);
    if (expected === 'done') expect(again).toEqual(first);
    expect(await actsSince(db, mark, first.vmId)).toEqual([]);
  });

  test('only one of several machines that use it at the same time', async () => {
    const { vmId, token } = await newVm();
    const found = await Promise.all([1, 2, 3].map(() => outcomeOf(enroll(token))));
    expect(found.sort()).toEqual(['done', refused, refused]);
    const acts = await actsSince(db, { act: 0, change: 0 }, vmId);
    expect(acts.filter(({ action }) => action === 'agent.enroll')).toHaveLength(1);
  });
});

describe('an enrollment', () => {
  test('stores the machine, and its credential as a hash only', async () => {
    const { vmId, token } = await newVm();
    const os = { name: 'Debian', version: '12', arch: 'x64' };
    const mark = await markOf(db);
    const { credential, ...rest } = await enroll(token, { more: { os } });
    expect(rest).toEqual({ vmId, pollSeconds: 30 });
    expect(credential).toMatch(/^annex_agent_[\w-]{43}$/);
    const row = await agentOf(vmId);
    expect(row).toMatchObject({
      credentialHash: sha256Hex(credential),
      kind: 'reference',
      name: 'annex-agent',
      version: '1.2',
      os,
      enrolledAt: operator.now,
      enrolledBy: 'Test operator',
      instanceId: null,
      duplicateSeenAt: null,
    });
    const [head] = await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
    expect(head).toMatchObject({ certificate: row?.certificate, thumbprint: row?.thumbprint, incarnation: 2 });
    const [stored] = await db.select().from(enrollmentTokens).where(eq(enrollmentTokens.vmId, vmId));
    expect(stored).toMatchObject({ usedAt: operator.now, usedKey: row?.keyHash, voidedAt: null });
    const acts = await actsSince(db, mark, vmId);
    expect(acts).toMatchObject([
      {
        action: 'agent.enroll',
        actorKind: 'agent',
        actorId: vmId,
        before: null,
        after: { thumbprint: row?.thumbprint, agent: { name: 'annex-agent', version: '1.2' }, os },
      },
    ]);
    expect(JSON.stringify(acts)).not.toContain(credential);
    expect(await changesSince(db, mark)).toContain(`vm ${vmId}`);
  });

  test('of another machine replaces the first machine and deletes its data', async () => {
    const { vmId, token } = await newVm();
    const first = await enroll(token);
    const before = await agentOf(vmId);
    const now = operator.now;
    await db.insert(agentPresence).values({ vmId, lastSeenAt: now, nextExpectedAt: now, counter: 900 });
    await db.insert(pendingRestarts).values({ vmId, since: now, requests: [] });
    await db.insert(agentRefusals).values({ vmId, code: 'counter_jumped', at: now });
    await db.update(agents).set({ instanceId: 'one', duplicateSeenAt: now }).where(eq(agents.vmId, vmId));
    const { enrollmentToken } = await issueEnrollmentToken(operator, { vmId });
    const mark = await markOf(db);
    const next = await enroll(enrollmentToken, { now: minutes(5) });
    expect(next.credential).not.toBe(first.credential);
    expect(await agentOf(vmId)).toMatchObject({
      credentialHash: sha256Hex(next.credential),
      enrolledAt: minutes(5),
      instanceId: null,
      duplicateSeenAt: null,
    });
    for (const table of [agentPresence, pendingRestarts, agentRefusals]) {
      expect(await db.$count(table, eq(table.vmId, vmId))).toBe(0);
    }
    expect(await actsSince(db, mark, vmId)).toMatchObject([{ before: { thumbprint: before?.thumbprint } }]);
  });

  test('rejects a key of another VM, and a VM with a stock agent, and leaves the token valid', async () => {
    const [one, other] = [await newVm(), await newVm()];
    const pair = newKeyPair();
    await enroll(one.token, { pair });
    expect(await outcomeOf(enroll(other.token, { pair }))).toBe('conflict key_in_use');
    const stock = {
      name: 'WALinuxAgent',
      version: '',
      os: {},
      certificate: '',
      thumbprint: '',
      kind: 'stock' as const,
    };
    const identity = { vmId: other.vmId, keyHash: other.vmId, credentialHash: other.vmId, enrolledAt: operator.now };
    await db.insert(agents).values({ ...stock, ...identity });
    expect(await outcomeOf(enroll(other.token))).toBe('conflict vm_has_stock_agent');
    expect(await agentOf(other.vmId)).toMatchObject({ kind: 'stock', name: 'WALinuxAgent' });
    await db.delete(agents).where(eq(agents.vmId, other.vmId));
    expect(await outcomeOf(enroll(other.token))).toBe('done');
  });

  const unfit = 'unprocessable certificate_unfit; /certificate certificate_unfit';
  test.each<[string, () => string]>([
    ['text', () => 'certificate'],
    ['nothing', () => ''],
    ['a weak key', () => newKeyPair('RSA 1024').certificate],
    ['half a certificate', () => newKeyPair().certificate.slice(0, 200)],
  ])('with %s as certificate is rejected by path', async (_, certificate) => {
    const { vmId, token } = await newVm();
    expect(await outcomeOf(enroll(token, { more: { certificate: certificate() } }))).toBe(unfit);
    expect(await agentOf(vmId)).toBeUndefined();
  });
});

describe('the proof of a key', () => {
  const pair = () => newKeyPair();
  const [missing, wrong] = ['enrol_proof_required', 'enrol_proof_refused'].map(
    (code) => `unprocessable ${code}; /proof ${code}`,
  );
  test.each<['optional' | 'required', string, (own: KeyPair, token: string) => string | undefined, string | undefined]>(
    [
      ['optional', 'none', () => undefined, 'done'],
      ['required', 'none', () => undefined, missing],
      ['optional', 'one', (own, token) => signed(own, token), 'done'],
      ['required', 'one', (own, token) => signed(own, token), 'done'],
      ['optional', 'one of another key', (_, token) => signed(pair(), token), wrong],
      ['required', 'one of another key', (_, token) => signed(pair(), token), wrong],
      ['optional', 'one over another token', (own, token) => signed(own, `${token}x`), wrong],
      ['optional', 'one that is not a signature', () => 'AAAA', wrong],
    ],
  )('%s, with %s', async (enrolProof, _, proofFor, expected) => {
    const { vmId, token } = await newVm();
    const own = pair();
    const proof = proofFor(own, token);
    const config = { ...services.config, enrolProof };
    const call = { pair: own, services: { ...services, config }, ...(proof && { proof }) };
    expect(await outcomeOf(enroll(token, call))).toBe(expected);
    expect((await agentOf(vmId)) !== undefined).toBe(expected === 'done');
  });
});

describe('a renewal', () => {
  async function enrolled() {
    const { vmId, token } = await newVm();
    const pair = newKeyPair();
    await enroll(token, { pair });
    const ctx = await testContext({
      services,
      actor: { kind: 'agent', id: vmId, name: 'vm', role: null, namespaces: [] },
    });
    return { vmId, pair, ctx };
  }

  test('replaces the key: rows, one goal state and one act; the credential remains valid', async () => {
    const { vmId, pair, ctx } = await enrolled();
    const before = await agentOf(vmId);
    const next = newKeyPair();
    const mark = await markOf(db);
    const answer = await renewCertificate(ctx, vmId, { certificate: next.certificate, proof: proofOf(pair, next) });
    const after = await agentOf(vmId);
    expect(answer).toEqual({ vmId, thumbprint: after?.thumbprint, incarnation: 3 });
    expect(after).toMatchObject({ credentialHash: before?.credentialHash, enrolledAt: before?.enrolledAt });
    expect(after?.keyHash).not.toBe(before?.keyHash);
    expect(await actsSince(db, mark, vmId)).toMatchObject([
      {
        action: 'agent.renew-certificate',
        before: { thumbprint: before?.thumbprint },
        after: { thumbprint: after?.thumbprint },
      },
    ]);
    expect(await changesSince(db, mark)).toEqual([`vm ${vmId}`]);
    const again = await markOf(db);
    expect(await renewCertificate(ctx, vmId, { certificate: next.certificate, proof: '' })).toEqual(answer);
    expect(await actsSince(db, again, vmId)).toEqual([]);
  });

  test('that the old key did not sign changes nothing', async () => {
    const { vmId, ctx } = await enrolled();
    const before = await agentOf(vmId);
    const next = newKeyPair();
    for (const proof of ['', 'AAAA', proofOf(next, next)]) {
      const outcome = await outcomeOf(renewCertificate(ctx, vmId, { certificate: next.certificate, proof }));
      expect(outcome).toBe('unprocessable proof_refused; /proof proof_refused');
    }
    expect(await agentOf(vmId)).toEqual(before);
  });

  test('sent twice at the same time leaves the key of the last request', async () => {
    const { vmId, pair, ctx } = await enrolled();
    const pairs = [newKeyPair(), newKeyPair()];
    const found = await Promise.all(
      pairs.map((next) =>
        outcomeOf(renewCertificate(ctx, vmId, { certificate: next.certificate, proof: proofOf(pair, next) })),
      ),
    );
    // The proof of the later request is signed with a key that is no longer in use.
    expect(found.sort()).toEqual(['done', 'unprocessable proof_refused; /proof proof_refused']);
    const [head] = await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
    expect(head).toMatchObject({ thumbprint: (await agentOf(vmId))?.thumbprint, incarnation: 3 });
  });

  test('of a VM without a machine, or of a deleted VM, is rejected', async () => {
    const { vmId, pair, ctx } = await enrolled();
    const next = newKeyPair();
    const renew = () => renewCertificate(ctx, vmId, { certificate: next.certificate, proof: proofOf(pair, next) });
    await db.delete(agents).where(eq(agents.vmId, vmId));
    expect(await outcomeOf(renew())).toBe('unauthenticated credential_refused');
    await removeVm(operator, { vmId });
    expect(await outcomeOf(renew())).toBe('not_found vm_unknown');
  });
});
