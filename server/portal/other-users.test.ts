import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { auditEntries, passkeys, sessions } from '#db/schema/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext } from '#server/testing/context.ts';
import {
  asToken,
  differences,
  lines,
  mutations,
  openPermissionStage,
  type PermissionStage,
  wrapped,
} from '#server/testing/permission-stage.ts';
import { type Caller, callers } from '#server/testing/portal-doors.ts';

let stage: PermissionStage;
let doors: PermissionStage['doors'];

beforeAll(async () => {
  stage = await openPermissionStage();
  ({ doors } = stage);
});
afterAll(() => doors.close());

describe('objects of other users', () => {
  test('a publisher is rejected in a foreign namespace, even through the pages', async () => {
    const before = await doors.digest();
    const inNamespace = Object.entries(lines).filter(([, { reach }]) => reach === 'namespace');
    const calls = inNamespace.flatMap(([path]) =>
      (['publisher', 'outsider'] as const).map((who) => ({
        name: `${path} as ${who}`,
        want: '403 namespace_forbidden',
        got: () =>
          stage.ask(path, stage.asMember(who), {
            ...stage.handlers[who === 'publisher' ? 'foreign' : 'own'],
            reason: 'x',
            schema: {},
          }),
      })),
    );
    expect(await differences(calls)).toEqual([]);
    for (const who of [null, ...callers] as const) {
      const response = await doors.fetch('/upload/handlers/Other.Lab.Probe/versions/1.0.0.0/resources/en', {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...stage.asMember(who) },
        body: '[]',
      });
      const want = who === null ? 401 : who === 'admin' || who === 'outsider' ? 422 : 403;
      expect([who, response.status]).toEqual([who, want]);
    }
    expect(await doors.digest()).toBe(before);
  });

  test('drafts in other namespaces are not listed', async () => {
    const listed = async (who: Caller) => {
      const response = await doors.fetch(`/api/trpc/packages.drafts?input=${wrapped({})}`, {
        headers: stage.asMember(who),
      });
      return JSON.stringify(await response.json());
    };
    expect(await listed('publisher')).not.toContain('Other.Lab');
    expect(await listed('outsider')).not.toContain('Acme.Lab');
    expect(await listed('admin')).toMatch(/Acme\.Lab.*Other\.Lab|Other\.Lab.*Acme\.Lab/);
  });

  test('sessions and passkeys of other members cannot be removed', async () => {
    const { db } = doors.services;
    const admins = eq(sessions.userId, doors.members.admin);
    const [session] = await db.select({ id: sessions.id }).from(sessions).where(admins);
    const passkey = randomUUID();
    await db.insert(passkeys).values({
      id: passkey,
      userId: doors.members.admin,
      name: 'own',
      publicKey: Buffer.from('k'),
      counter: 0,
      transports: [],
      backedUp: false,
      createdAt: new Date(),
    });
    for (const who of callers.filter((caller) => caller !== 'admin')) {
      await stage.ask('account.endSession', stage.asMember(who), { id: session?.id });
      await stage.ask('account.removePasskey', stage.asMember(who), { id: passkey });
      await stage.ask('account.renamePasskey', stage.asMember(who), { id: passkey, name: 'stolen' });
      expect(await stage.ask('members.endSessions', stage.asMember(who), { id: doors.members.admin })).toBe(
        '403 forbidden',
      );
    }
    expect(await db.$count(sessions, admins)).toBe(1);
    expect(await db.select({ name: passkeys.name }).from(passkeys).where(eq(passkeys.id, passkey))).toEqual([
      { name: 'own' },
    ]);
  });

  test('only admins and the person who acted can read a log entry about people', async () => {
    const { db } = doors.services;
    const [act] = await db
      .select({ id: auditEntries.id })
      .from(auditEntries)
      .where(eq(auditEntries.action, 'token.create'))
      .limit(1);
    for (const who of callers) {
      const input = encodeURIComponent(wrapped({ id: act?.id }));
      const response = await doors.fetch(`/api/trpc/activity.get?input=${input}`, { headers: stage.asMember(who) });
      expect([who, response.status]).toEqual([who, who === 'admin' ? 200 : 404]);
      const file = await doors.fetch('/download/activity.jsonl?action=token', { headers: stage.asMember(who) });
      expect([who, file.status, (await file.text()) === '']).toEqual([who, 200, who !== 'admin']);
    }
    expect((await doors.fetch('/download/activity.csv')).status).toBe(401);
    const across = { headers: { ...stage.cookieOf('admin'), 'sec-fetch-site': 'cross-site' } };
    expect((await doors.fetch('/download/activity.csv', across)).status).toBe(403);
  });

  test('a deleted VM cannot be changed, and its agent is rejected', async () => {
    const before = await doors.digest();
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' };
    const inputs = { vmId: stage.deletedVm, name: 'probe', goal, incarnation: 1, tags: {}, reason: 'test' };
    for (const path of mutations.filter((one) => /^(vms|goalStates)\./.test(one) && one !== 'vms.create')) {
      const response = await stage.post(`/api/trpc/${path}`, stage.asMember('admin'), wrapped(inputs));
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(await doors.digest()).toBe(before);
    const agent = () => doors.fetch('/agent/v1/goal-state', { headers: asToken(stage.credential) });
    expect((await agent()).status).toBe(200);
    await removeVm(await testContext({ services: doors.services }), { vmId: stage.agentVm });
    await vi.waitFor(async () => expect((await agent()).status).toBe(401));
  });
});
