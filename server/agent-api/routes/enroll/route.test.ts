import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { claimInstance, issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { type AgentDoor, openAgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { type KeyKind, newKeyPair, signed } from '#server/testing/key-pair.ts';

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
});
afterAll(() => door.close());

const newVm = () => {
  count += 1;
  return registerVm(ctx, { name: `enroll-${count}` });
};
const enroll = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${door.url}/enroll`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
const machine = { agent: { name: 'test', version: '1.0' }, os: { name: 'Debian', version: '12', arch: 'amd64' } };

test('201 once, the same response again for the same key, 401 for another key', async () => {
  const { id, enrollmentToken } = await newVm();
  const certificate = newKeyPair('RSA 2048').certificate;
  const first = await enroll({ enrollmentToken, certificate, ...machine });
  expect(first.status).toBe(201);
  const answer = (await first.json()) as { vmId: string; credential: string; pollSeconds: number };
  expect(answer).toMatchObject({ vmId: id, pollSeconds: expect.any(Number) });

  const again = await enroll({ enrollmentToken, certificate, ...machine });
  expect(again.status).toBe(201);
  expect(await again.json()).toEqual(answer);

  const other = await enroll({ enrollmentToken, certificate: newKeyPair().certificate, ...machine });
  expect(other.status).toBe(401);
  expect(await other.json()).toMatchObject({ code: 'enrollment_refused', status: 401 });

  const stored = await ctx.db.$client.query('select t::text as row from agents t');
  expect(JSON.stringify(stored.rows)).not.toContain(answer.credential);
});

test('calls of the previous machine during an enrollment do not affect the new one', async () => {
  const { id: vmId, enrollmentToken } = await newVm();
  const enrolled = async (token: string) => {
    const answer = await enroll({ enrollmentToken: token, certificate: newKeyPair().certificate, ...machine });
    return ((await answer.json()) as { credential: string }).credential;
  };
  const before = await enrolled(enrollmentToken);
  const receivedAt = new Date();
  const next = await enrolled((await issueEnrollmentToken(ctx, { vmId })).enrollmentToken);

  expect(await claimInstance(ctx, sha256Hex(before), 'the one before')).toBe(false);
  const actor = { kind: 'agent' as const, id: vmId, name: 'enroll', role: null, namespaces: [] };
  await ingestReport(await testContext({ services: ctx, actor }), { vmId, report: {}, receivedAt, counter: 5_000 });
  const headers = { authorization: `Bearer ${next}`, 'annex-agent': 'the next one; 1' };
  expect((await fetch(`${door.url}/goal-state`, { headers })).status).toBe(200);
});

test('P-256 certificates are accepted too', async () => {
  const { enrollmentToken } = await newVm();
  const certificate = newKeyPair('P-256').certificate;
  expect((await enroll({ enrollmentToken, certificate, ...machine })).status).toBe(201);
});

test('409 if another VM uses the key', async () => {
  const [one, two] = [await newVm(), await newVm()];
  const certificate = newKeyPair().certificate;
  await enroll({ enrollmentToken: one.enrollmentToken, certificate, ...machine });
  const refused = await enroll({ enrollmentToken: two.enrollmentToken, certificate, ...machine });
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({ code: 'key_in_use' });
});

test('of two concurrent enrollments with one key, one succeeds and the other gets 409', async () => {
  const certificate = newKeyPair().certificate;
  const vms = await Promise.all([newVm(), newVm()]);
  const answers = await Promise.all(
    vms.map(({ enrollmentToken }) => enroll({ enrollmentToken, certificate, ...machine })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

describe('401', () => {
  test('for a replaced token, and for the token of a deleted VM', async () => {
    const { id, enrollmentToken } = await newVm();
    const { enrollmentToken: newer } = await issueEnrollmentToken(ctx, { vmId: id });
    expect((await enroll({ enrollmentToken, certificate: newKeyPair().certificate, ...machine })).status).toBe(401);
    await removeVm(ctx, { vmId: id });
    expect((await enroll({ enrollmentToken: newer, certificate: newKeyPair().certificate, ...machine })).status).toBe(
      401,
    );
  });

  test("for an expired token, in the caller's language", async () => {
    const yesterday = { ...ctx, now: new Date(Date.now() - 25 * 3_600_000) };
    count += 1;
    const { enrollmentToken } = await registerVm(yesterday, { name: `enroll-${count}` });
    const refused = await enroll(
      { enrollmentToken, certificate: newKeyPair().certificate, ...machine },
      { 'accept-language': 'de-AT' },
    );
    expect(refused.status).toBe(401);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(((await refused.json()) as { detail: string }).detail).toContain('Registrierungstoken');
  });
});

describe('400 and 422 name every fault', () => {
  test('fields of the wrong type', async () => {
    const refused = await enroll({ certificate: 7, agent: { name: 'x' } });
    expect(refused.status).toBe(400);
    const { errors } = (await refused.json()) as { errors: { path: string; code: string }[] };
    expect(errors.map(({ path }) => path)).toEqual(['/enrollmentToken', '/certificate', '/agent/version']);
  });

  test('a body that is not JSON', async () => {
    expect((await enroll('{"enrollmentToken": ')).status).toBe(400);
  });

  test('a weak certificate', async () => {
    const { enrollmentToken } = await newVm();
    const refused = await enroll({ enrollmentToken, certificate: newKeyPair('RSA 1024').certificate, ...machine });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code: 'certificate_unfit', errors: [{ path: '/certificate' }] });
  });
});

test('attempts from one address are limited', async () => {
  const own = await openAgentDoor(ctx);
  try {
    const answers = await Promise.all(
      Array.from({ length: 80 }, () =>
        fetch(`${own.url}/enroll`, {
          method: 'POST',
          body: JSON.stringify({ enrollmentToken: 'guess', certificate: 'none', ...machine }),
        }),
      ),
    );
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await own.close();
  }
});

describe('a proof that the machine has the key of its certificate', () => {
  const refusal = (code: string) => ({ code, errors: [{ path: '/proof', code }] });

  test.each<[KeyKind]>([['RSA 2048'], ['P-256']])(
    '%s: a token signed with that key is accepted, and any other signature is rejected',
    async (kind) => {
      const [{ enrollmentToken }, pair] = [await newVm(), newKeyPair(kind)];
      const request = { enrollmentToken, certificate: pair.certificate, ...machine };
      for (const proof of [signed(newKeyPair(kind), enrollmentToken), signed(pair, 'another token'), '&&&']) {
        const refused = await enroll({ ...request, proof });
        expect(refused.status).toBe(422);
        expect(await refused.json()).toMatchObject(refusal('enrol_proof_refused'));
      }
      expect((await enroll({ ...request, proof: signed(pair, enrollmentToken) })).status).toBe(201);
    },
  );

  test('ANNEX_ENROL_PROOF=required: no machine enrolls without a proof, and the token stays valid', async () => {
    const strict = await openAgentDoor({ ...ctx, config: { ...ctx.config, enrolProof: 'required' } });
    try {
      const [{ enrollmentToken }, pair] = [await newVm(), newKeyPair()];
      const request = { enrollmentToken, certificate: pair.certificate, ...machine };
      const send = (body: object) => fetch(`${strict.url}/enroll`, { method: 'POST', body: JSON.stringify(body) });
      const refused = await send(request);
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject(refusal('enrol_proof_required'));
      expect((await send({ ...request, proof: signed(pair, enrollmentToken) })).status).toBe(201);
    } finally {
      await strict.close();
    }
  });
});
