import { execFileSync } from 'node:child_process';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, goalStateHeads } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { getExtension } from '#server/domain/goal-states/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, givenAgent, givenProbe, openAgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { type KeyKind, type KeyPair, newKeyPair, proofOf } from '#server/testing/key-pair.ts';

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
});
afterAll(() => door.close());

/** Creates a VM that has a secret and whose machine enrolled with this key pair. */
async function givenMachine(pair: KeyPair, of: Context = ctx, at = door) {
  count += 1;
  const { vmId, call } = await givenAgent(of, at, `machine-${count}`, pair);
  const settings = { publicSettings: {}, protectedSettings: { password: 'correct horse battery' } };
  await givenProbe(of, vmId, { settings });
  return {
    vmId,
    put: (sent: unknown) =>
      call('/certificate', { method: 'PUT', body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    goalState: async () =>
      (await (await call('/goal-state')).json()) as {
        incarnation: number;
        extensions: {
          sequenceNumber: number;
          settings: { protectedSettings: string; protectedSettingsCertThumbprint: string };
        }[];
      },
  };
}

const thumbprintOf = (certificate: string) =>
  execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha1'], { input: certificate })
    .toString()
    .trim()
    .replace(/^.*=/, '')
    .replaceAll(':', '');

test.each<[string, KeyKind, KeyKind]>([
  ['RSA by RSA', 'RSA 2048', 'RSA 2048'],
  ['P-256 by P-256', 'P-256', 'P-256'],
  ['P-256 by RSA', 'RSA 2048', 'P-256'],
])('AZ-C2 a new certificate, %s: settings are encrypted again, in a new incarnation', async (_, old, renewed) => {
  const [before, after] = [newKeyPair(old), newKeyPair(renewed)];
  const machine = await givenMachine(before);
  const first = await machine.goalState();
  const answer = await machine.put({ certificate: after.certificate, proof: proofOf(before, after) });
  expect(answer.status).toBe(200);
  const thumbprint = thumbprintOf(after.certificate);
  expect(await answer.json()).toEqual({ vmId: machine.vmId, thumbprint, incarnation: first.incarnation + 1 });

  const { incarnation, extensions } = await machine.goalState();
  expect(incarnation).toBe(first.incarnation + 1);
  expect(extensions.map(({ sequenceNumber }) => sequenceNumber)).toEqual([first.extensions[0]?.sequenceNumber]);
  const settings = extensions[0]?.settings;
  expect(settings?.protectedSettingsCertThumbprint).toBe(thumbprint);
  const opened = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', after.key], {
    input: Buffer.from(settings?.protectedSettings ?? '', 'base64'),
  });
  expect(JSON.parse(opened.toString())).toEqual({ password: 'correct horse battery' });
  // The machine stays the same, so deliveries and deadlines are kept.
  const { rows } = await ctx.db.$client.query('select delivered_at from extensions where vm_id = $1', [machine.vmId]);
  expect(rows).toEqual([{ delivered_at: expect.any(Date) }]);

  const acts = await readActs(ctx.db, eq(auditEntries.vmId, machine.vmId));
  expect(acts.filter(({ action }) => action === 'agent.renew-certificate')).toMatchObject([
    { actorKind: 'agent', after: { thumbprint } },
  ]);
});

test('the same certificate again gets the same response and changes nothing', async () => {
  const [before, after] = [newKeyPair(), newKeyPair()];
  const machine = await givenMachine(before);
  const sent = { certificate: after.certificate, proof: proofOf(before, after) };
  const answers = [await machine.put(sent), await machine.put(sent)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const [first, second] = await Promise.all(answers.map((answer) => answer.json()));
  expect(second).toEqual(first);
});

test('accepts a proof over the DER of the certificate', async () => {
  const [before, after] = [newKeyPair(), newKeyPair()];
  const machine = await givenMachine(before);
  const der = execFileSync('openssl', ['x509', '-outform', 'DER'], { input: after.certificate });
  const proof = execFileSync('openssl', ['dgst', '-sha256', '-sign', before.key], { input: der }).toString('base64');
  expect((await machine.put({ certificate: after.certificate, proof })).status).toBe(200);
});

test('ANNEX_CUSTODY=vm: after a new certificate, the extension needs its secrets again and is not delivered', async () => {
  const services = { ...ctx, config: { ...ctx.config, custody: 'vm' as const } };
  const custody = await testContext({ role: 'operator', services });
  const own = await openAgentDoor(services);
  try {
    const [before, after] = [newKeyPair(), newKeyPair()];
    const machine = await givenMachine(before, custody, own);
    expect((await machine.goalState()).extensions).toHaveLength(1);
    const answer = await machine.put({ certificate: after.certificate, proof: proofOf(before, after) });
    expect(answer.status).toBe(200);
    expect((await machine.goalState()).extensions).toEqual([]);
    const view = await getExtension(custody, { vmId: machine.vmId, name: 'probe' });
    expect(view.protectedSettings).toMatchObject({ needsSecrets: true });
  } finally {
    await own.close();
  }
});

test('a renewal and a concurrent enrollment do not deadlock', async () => {
  const [before, after] = [newKeyPair(), newKeyPair()];
  const machine = await givenMachine(before);
  const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: machine.vmId });
  const waiting = async () => {
    const { rows } = await ctx.db.execute<{ n: number }>(
      sql`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.n;
  };
  const answers = await ctx.db.transaction(async (tx) => {
    await tx.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, machine.vmId)).for('update');
    const renewed = machine.put({ certificate: after.certificate, proof: proofOf(before, after) });
    await expect.poll(waiting, { timeout: 5_000 }).toBe(1);
    const body = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1' } };
    const enrolled = fetch(`${door.url}/enroll`, { method: 'POST', body: JSON.stringify(body) });
    await expect.poll(waiting, { timeout: 5_000 }).toBe(2);
    return [renewed, enrolled];
  });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 201]);
});

describe('rejected without a change', () => {
  const old = newKeyPair();
  let machine: Awaited<ReturnType<typeof givenMachine>>;
  beforeAll(async () => {
    machine = await givenMachine(old);
  });
  const stored = async () =>
    (await ctx.db.select().from(agents).where(eq(agents.vmId, machine.vmId))).map(({ thumbprint }) => thumbprint);

  test.each<[string, () => unknown, number, object]>([
    [
      'a proof with another key',
      () => {
        const renewed = newKeyPair();
        return { certificate: renewed.certificate, proof: proofOf(renewed, renewed) };
      },
      422,
      { code: 'proof_refused', errors: [{ path: '/proof', code: 'proof_refused' }] },
    ],
    [
      'a proof for another certificate',
      () => ({ certificate: newKeyPair().certificate, proof: proofOf(old, newKeyPair()) }),
      422,
      { code: 'proof_refused' },
    ],
    ['a proof that is not base64', () => ({ certificate: newKeyPair().certificate, proof: '&&&' }), 422, {}],
    [
      'a weak key',
      () => {
        const weak = newKeyPair('RSA 1024');
        return { certificate: weak.certificate, proof: proofOf(old, weak) };
      },
      422,
      { code: 'certificate_unfit', errors: [{ path: '/certificate' }] },
    ],
    ['no certificate', () => ({ certificate: 'none', proof: 'none' }), 422, { code: 'certificate_unfit' }],
    ['an empty body', () => ({}), 400, { errors: [{ path: '/certificate' }, { path: '/proof' }] }],
    ['no JSON', () => '{"certificate":', 400, { code: 'invalid' }],
  ])('%s', async (_, sent, status, problem) => {
    const refused = await machine.put(sent());
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject(problem);
    expect(await stored()).toEqual([thumbprintOf(old.certificate)]);
  });

  test('a key that another VM uses is rejected', async () => {
    const theirs = newKeyPair();
    await givenMachine(theirs);
    const refused = await machine.put({ certificate: theirs.certificate, proof: proofOf(old, theirs) });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: 'key_in_use' });
    expect(await stored()).toEqual([thumbprintOf(old.certificate)]);
  });

  test('a call without a credential is rejected', async () => {
    const answer = await fetch(`${door.url}/certificate`, { method: 'PUT', body: '{}' });
    expect(answer.status).toBe(401);
  });
});
