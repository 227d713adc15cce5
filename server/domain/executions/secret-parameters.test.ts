import { execFileSync } from 'node:child_process';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, secrets } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollAgent, issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { type KeyPair, newKeyPair, proofOf } from '#server/testing/key-pair.ts';
import { cancelExecution, getExecution, handOutNext, queueExecution, settleDue } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const values = { password: 'correct-horse-battery', nested: { pin: 481_516 } };
const secretParameters = values;

/**
 * Returns a context with custody `vm`: once a machine is enrolled, the portal keeps no copy that it can decrypt.
 */
const withoutCopies = (): Context => ({ ...admin, config: { ...admin.config, custody: 'vm' } });

const rowsOf = (vmId: string) => admin.db.select().from(secrets).where(eq(secrets.vmId, vmId));

/** Decrypts the secret parameters of an envelope, as the machine does. */
function opened(envelope: { protectedParameters?: string | undefined } | null, { key }: KeyPair): unknown {
  const input = Buffer.from(envelope?.protectedParameters ?? '', 'base64');
  const text = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input });
  return JSON.parse(text.toString());
}

/** Replaces the key of a machine, with a proof signed with the previous key. */
const renew = (machine: Awaited<ReturnType<typeof givenMachine>>, before: KeyPair, after: KeyPair) =>
  machine.agent.call('/certificate', {
    method: 'PUT',
    body: JSON.stringify({ certificate: after.certificate, proof: proofOf(before, after) }),
  });

describe('secret parameters of an execution', () => {
  test('reach the machine encrypted, and only their names are shown', async () => {
    const pair = newKeyPair('RSA 2048');
    const machine = await givenMachine(admin, door, pair);
    const { id, planSha256 } = await machine.queue(plan, { secretParameters });
    expect(await machine.get(id)).toMatchObject({ secretParameters: ['nested', 'password'] });
    const [stored] = await rowsOf(machine.vmId);
    expect(stored).toMatchObject({ name: `execution/${id}`, sealed: expect.any(Buffer), cms: expect.any(Buffer) });
    const envelope = await machine.next();
    expect(opened(envelope, pair)).toEqual(values);
    expect(envelope?.protectedParametersCertThumbprint).toBe(stored?.thumbprint);
    expect(envelope?.plan).toMatchObject({ Parameters: { who: 'w' } });
    const acts = await readActs(admin.db, eq(auditEntries.vmId, machine.vmId));
    const act = acts.find(({ action }) => action === 'execution.queue');
    expect(act?.details).toMatchObject({ plan: planSha256, secretParameters: ['nested', 'password'] });
    expect(JSON.stringify(acts)).not.toContain('correct-horse');
  });

  test('are encrypted for each VM, and wait in sealed form for a VM without a machine', async () => {
    const { id: vmId, enrollmentToken } = await registerVm(admin, { name: `later-${Date.now()}` });
    await queueExecution(withoutCopies(), { vmId, plan, secretParameters });
    expect(await rowsOf(vmId)).toMatchObject([{ sealed: expect.any(Buffer), cms: null }]);
    const pair = newKeyPair('RSA 2048');
    await enrollAgent(admin, {
      ...{ enrollmentToken, certificate: pair.certificate },
      agent: { name: 'test', version: '1' },
    });
    expect(opened(JSON.parse((await handOutNext(admin, vmId)) ?? ''), pair)).toEqual(values);
  });

  test('are encrypted again for a renewed key while the execution is open', async () => {
    const [before, after] = [newKeyPair('RSA 2048'), newKeyPair('RSA 2048')];
    const machine = await givenMachine(admin, door, before);
    await machine.queue(plan, { secretParameters });
    expect((await machine.next())?.protectedParameters).toBeDefined();
    expect((await renew(machine, before, after)).status).toBe(200);
    expect(opened(await machine.next(), after), 'the delivery was not acknowledged, so it is repeated').toEqual(values);
  });
});

describe('an execution whose secret parameters no key of the machine can decrypt', () => {
  test('is canceled, and the next one is delivered', async () => {
    const [before, after] = [newKeyPair(), newKeyPair()];
    const machine = await givenMachine(admin, door, before);
    const { execution } = await queueExecution(withoutCopies(), { vmId: machine.vmId, plan, secretParameters });
    expect(await rowsOf(machine.vmId)).toMatchObject([{ sealed: null, cms: expect.any(Buffer) }]);
    const next = await machine.queue();
    await renew(machine, before, after);
    expect((await machine.next())?.id).toBe(next.id);
    expect(await machine.get(execution.id)).toMatchObject({ state: 'cancelled', reason: 'execution.needs-secrets' });
    expect(await rowsOf(machine.vmId)).toEqual([]);
  });

  test('is canceled if the key came from a person who may not read the secrets', async () => {
    const { id: vmId } = await registerVm(admin, { name: `theirs-${Date.now()}` });
    const { execution } = await queueExecution(admin, { vmId, plan, secretParameters });
    const eve = await testContext({ services: admin, role: 'operator' });
    const { enrollmentToken } = await issueEnrollmentToken(eve, { vmId });
    const { certificate } = newKeyPair();
    await enrollAgent(admin, { enrollmentToken, certificate, agent: { name: 'test', version: '1' } });
    expect(await handOutNext(admin, vmId)).toBeNull();
    const ended = { state: 'cancelled', reason: 'execution.needs-secrets' };
    expect(await getExecution(admin, { vmId, executionId: execution.id })).toMatchObject(ended);
    expect(await rowsOf(vmId)).toEqual([]);
  });
});

describe('the secret parameters are deleted when an execution', () => {
  type Machine = Awaited<ReturnType<typeof givenMachine>>;
  const later = (seconds: number): Context => ({ ...admin, now: new Date(Date.now() + seconds * 1_000) });
  const begun = async (machine: Machine, id: string) => {
    await machine.next();
    await machine.progress(id, 'running');
  };
  const ends: [how: string, end: (machine: Machine, id: string) => Promise<unknown>, state: string][] = [
    ['succeeds', async (machine, id) => [await begun(machine, id), await machine.result(id)], 'succeeded'],
    [
      'fails',
      async (machine, id) => [await begun(machine, id), await machine.result(id, id, { ErrorCode: 1 })],
      'failed',
    ],
    ['is canceled', ({ vmId }, executionId) => cancelExecution(admin, { vmId, executionId }), 'cancelled'],
    ['expires', () => settleDue(later(90_000)), 'expired'],
    ['times out', async (machine, id) => [await begun(machine, id), await settleDue(later(4_000))], 'timed-out'],
    ['is lost', async (machine, id) => [await begun(machine, id), await machine.next()], 'lost'],
    ['loses its VM', ({ vmId }) => removeVm(admin, { vmId }), 'cancelled'],
  ];

  test.each(ends)('%s', async (_, end, state) => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue(plan, { secretParameters });
    expect(await rowsOf(machine.vmId)).toHaveLength(1);
    await end(machine, id);
    expect(await machine.get(id)).toMatchObject({ state, secretParameters: ['nested', 'password'] });
    expect(await rowsOf(machine.vmId)).toEqual([]);
  });
});

describe('a request is rejected', () => {
  test.each<[what: string, given: object, error: object]>([
    [
      'with a parameter that is both secret and not',
      { who: 'me', password: 'x' },
      {
        kind: 'unprocessable',
        code: 'parameter_twice',
        faults: [{ path: '/secretParameters/who', code: 'parameter_twice' }],
      },
    ],
    [
      'above 256 KiB',
      { a: 'x'.repeat(300_000) },
      { kind: 'too_large', code: 'plan_parameters_too_large', params: { limit: 262_144 } },
    ],
    [
      'with more than 200 names',
      Object.fromEntries(Array.from({ length: 201 }, (__, n) => [`p${n}`, n])),
      { code: 'invalid', faults: [{ path: '/secretParameters', code: 'field_too_many' }] },
    ],
    [
      'with a name that cannot be stored',
      { 'a\u0000b': 1 },
      { code: 'invalid', faults: [{ path: '/secretParameters', code: 'field_invalid' }] },
    ],
    [
      'with the name __proto__',
      JSON.parse('{"__proto__":"x"}'),
      { code: 'invalid', faults: [{ path: '/secretParameters/__proto__', code: 'name_reserved' }] },
    ],
  ])('%s', async (_, given, error) => {
    const machine = await givenMachine(admin, door);
    await expect(machine.queue(plan, { secretParameters: given })).rejects.toMatchObject(error);
    expect(await rowsOf(machine.vmId)).toEqual([]);
  });

  test('with the ID of a plan that has other secret parameters', async () => {
    const machine = await givenMachine(admin, door);
    const { vmId } = machine;
    const given = { vmId, plan: { ...plan, ID: `secret-${vmId}` } };
    const { execution } = await queueExecution(admin, { ...given, secretParameters });
    const again = await queueExecution(admin, {
      ...given,
      secretParameters: { password: values.password, nested: values.nested },
    });
    expect([again.isNew, again.execution.id]).toEqual([false, execution.id]);
    const taken = { kind: 'conflict', code: 'plan_id_taken' };
    await expect(queueExecution(admin, given)).rejects.toMatchObject(taken);
    const other = { ...values, password: 'another-password' };
    await expect(queueExecution(admin, { ...given, secretParameters: other })).rejects.toMatchObject(taken);
    await cancelExecution(admin, { vmId, executionId: execution.id });
    const ended = await queueExecution(admin, { ...given, secretParameters: other });
    expect(ended.isNew, 'after the end, the values are gone and cannot be compared').toBe(false);
  });
});
