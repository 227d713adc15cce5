import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, cloudServices, endpoints } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import {
  addMachine,
  closeEndpoint,
  destroyModel,
  endpointsChannel,
  getModel,
  getTopology,
  listEndpoints,
  publicEndpoints,
  removeMachine,
  setEndpoint,
} from './index.ts';
import { topologyLimits } from './input.ts';
import { enrollMachine, type LabService, newService } from './testing/lab-service.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let lab: LabService;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  lab = await newService(stage);
});

const web = { protocol: 'tcp', port: 80 } as const;
const set = (instance: string, given: Partial<Parameters<typeof setEndpoint>[1]> = {}) =>
  setEndpoint(ctx, { instance, ...web, ...given }, lab.provider);
const close = (instance: string, given: Partial<Parameters<typeof closeEndpoint>[1]> = {}) =>
  closeEndpoint(ctx, { instance, ...web, ...given }, lab.provider);
const revision = async () => (await getModel(ctx, { model: lab.model })).revision;
const portsOf = async (vmId: string) =>
  (await ctx.db.select().from(endpoints).where(eq(endpoints.vmId, vmId)))
    .map(({ protocol, publicPort }) => `${publicPort}/${protocol}`)
    .toSorted();
const acts = (action: string) =>
  readActs(ctx.db, and(eq(auditEntries.action, action), eq(auditEntries.targetId, lab.model)));

describe('JU-15 a port', () => {
  test('belongs to one role outside of a set, and another role gets a conflict that names it', async () => {
    const { first, second } = lab;
    expect(await set(first.instanceId, { localPort: 8_080 })).toMatchObject({
      ...{ cloudService: lab.service, publicPort: 80, localPort: 8_080, name: 'tcp80-80', set: null },
    });
    const role = first.instanceId.slice(lab.service.length + 1);
    const refused = { kind: 'conflict', code: 'port_conflict', params: { port: '80/tcp', role } };
    await expect(set(second.instanceId)).rejects.toMatchObject(refused);
    await expect(set(second.instanceId, { set: true })).rejects.toMatchObject(refused);
    expect(await portsOf(second.vmId)).not.toContain('80/tcp');
    // The other protocol is another port.
    await set(second.instanceId, { protocol: 'udp' });
    await close(second.instanceId, { protocol: 'udp' });
    await close(first.instanceId);
  });

  test('of a set is shared by every role that opens it, and the set ends with its last member', async () => {
    const { first, second } = lab;
    for (const one of [first, second]) await set(one.instanceId, { set: true });
    const members = async () =>
      (await listEndpoints(ctx, { model: lab.model })).items.find(({ publicPort }) => publicPort === 80)?.members;
    expect((await members())?.map(({ instanceId }) => instanceId)).toEqual([first.instanceId, second.instanceId]);
    await close(first.instanceId);
    expect((await members())?.map(({ instanceId }) => instanceId)).toEqual([second.instanceId]);
    await close(second.instanceId);
    expect(await members()).toBeUndefined();
  });

  test('cannot leave its set while another role has it', async () => {
    const { first, second } = lab;
    for (const one of [first, second]) await set(one.instanceId, { set: true });
    await expect(set(first.instanceId, { set: false })).rejects.toMatchObject({ code: 'port_conflict' });
    await close(second.instanceId);
    expect(await set(first.instanceId, { set: false })).toMatchObject({ set: null });
    await close(first.instanceId);
  });

  test('of two roles at the same time is given to one of them', async () => {
    const outcomes = await Promise.allSettled([set(lab.first.instanceId), set(lab.second.instanceId)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const loser = outcomes.find((one) => one.status === 'rejected');
    expect(loser?.reason).toMatchObject({ code: 'port_conflict' });
    await Promise.allSettled([close(lab.first.instanceId), close(lab.second.instanceId)]);
  });
});

describe('setting an endpoint', () => {
  test('is recorded with before and after, and an identical request changes nothing', async () => {
    const { instanceId, vmId } = lab.first;
    const before = await revision();
    await set(instanceId);
    await set(instanceId);
    expect(await revision()).toBe(before + 1);
    await set(instanceId, { localPort: 8_080 });
    await close(instanceId);
    const details = { machine: `${lab.model}-0`, port: '80/tcp' };
    expect((await acts('endpoint.set')).slice(-2)).toMatchObject([
      { vmId, before: null, after: { localPort: 80, set: null }, details },
      { vmId, before: { localPort: 80 }, after: { localPort: 8_080 }, details },
    ]);
    expect((await acts('endpoint.close')).at(-1)).toMatchObject({
      ...{ vmId, before: { localPort: 8_080 }, after: null, details },
    });
    expect(await revision()).toBe(before + 3);
  });

  test('reaches the provider, open pages and the fabric', async () => {
    const heard: string[] = [];
    const listening = await new Promise<{ close(): Promise<void> }>((resolve) => {
      const one = ctx.wakes.listen([endpointsChannel], {
        ...{ heard: (_: string, payload: string) => void heard.push(payload), lost: () => {} },
        back: () => resolve(one),
      });
    });
    const pages = await ctx.db.$count(changes, eq(changes.key, lab.model));
    await set(lab.first.instanceId);
    const role = lab.first.instanceId.slice(lab.service.length + 1);
    expect(lab.provider.ports.get(role)?.toSorted()).toEqual(['17070/tcp', '22/tcp', '80/tcp']);
    expect(await ctx.db.$count(changes, eq(changes.key, lab.model))).toBe(pages + 1);
    await expect.poll(() => heard).toContain(lab.service);
    await close(lab.first.instanceId);
    expect(lab.provider.ports.get(role)?.toSorted()).toEqual(['17070/tcp', '22/tcp']);
    await listening.close();
  });

  test('is kept if the provider fails, and the repair calls the provider again', async () => {
    const { provider, first } = lab;
    const role = first.instanceId.slice(lab.service.length + 1);
    provider.fate = (step) => (step === 'endpoints' ? 'failBefore' : 'succeed');
    await set(first.instanceId, { port: 81 });
    expect(provider.ports.get(role)).not.toContain('81/tcp');
    expect(await stage.mend(provider, 30)).toBe(0);
    expect(provider.ports.get(role)).not.toContain('81/tcp');
    expect(await stage.mend(provider, 61)).toBe(1);
    provider.fate = () => 'succeed';
    expect(await stage.mend(provider, 61)).toBe(0);
    expect(provider.ports.get(role)).toContain('81/tcp');
    const [row] = await ctx.db.select().from(cloudServices).where(eq(cloudServices.name, lab.service));
    expect(row?.providerDueAt).toBeNull();
    await close(first.instanceId, { port: 81 });
  });

  test('has a limit for each role', async () => {
    const { vmId, instanceId, cloudService } = lab.second;
    const [like] = await ctx.db.select().from(endpoints).where(eq(endpoints.vmId, vmId));
    if (like === undefined) throw new Error('the role has no endpoint');
    const many = Array.from({ length: topologyLimits.endpoints - 2 }, (_, n) => ({
      ...{ ...like, publicPort: 20_000 + n, setName: null, source: 'operator' as const },
    }));
    await ctx.db.insert(endpoints).values(many);
    await expect(set(instanceId)).rejects.toMatchObject({ code: 'endpoints_too_many', params: { limit: 256 } });
    // A port that is open already can be changed.
    expect(await set(instanceId, { port: 20_000, localPort: 9_000 })).toMatchObject({ cloudService, localPort: 9_000 });
    await ctx.db.delete(endpoints).where(and(eq(endpoints.vmId, vmId), eq(endpoints.source, 'operator')));
  });
});

describe('a request is rejected', () => {
  test('for SSH and the API, which belong to the role', async () => {
    const { instanceId } = lab.first;
    for (const port of [22, 17_070]) {
      await expect(set(instanceId, { port, set: true })).rejects.toMatchObject({ code: 'port_conflict' });
      await expect(close(instanceId, { port })).rejects.toMatchObject({ kind: 'conflict', code: 'endpoint_fixed' });
    }
  });

  test('for a port that is not open', async () => {
    await expect(close(lab.first.instanceId)).rejects.toMatchObject({ kind: 'not_found', code: 'endpoint_unknown' });
  });

  test.each(['juju-absent-k3j9x0a1bz-jujuq7f2m0c4xd', 'juju-absent-k3j9x0a1bz', '', '-', '%2f', '../x'])(
    'for the instance id %j of no role',
    async (instance) => {
      await expect(set(instance)).rejects.toMatchObject({ kind: 'not_found', code: 'role_instance_unknown' });
      await expect(close(instance)).rejects.toMatchObject({ kind: 'not_found', code: 'role_instance_unknown' });
    },
  );

  test('for the id of a role that its cloud service does not have', async () => {
    const refused = { kind: 'not_found', code: 'role_instance_unknown' };
    await expect(set(`${lab.service}-jujuaaaaaaaaaa`)).rejects.toMatchObject(refused);
    await expect(set(lab.first.instanceId.toUpperCase())).rejects.toMatchObject(refused);
  });

  test('JU-12 for the older form of an id if the cloud service has two roles; with one role it means this role', async () => {
    await expect(set(lab.service)).rejects.toMatchObject({ kind: 'conflict', code: 'legacy_instance_ambiguous' });
    const { model, provider } = await stage.bootstrapped();
    const { cloudService, vmId } = await addMachine(ctx, { model }, provider);
    await setEndpoint(ctx, { instance: cloudService, ...web }, provider);
    expect(await portsOf(vmId)).toEqual(['22/tcp', '80/tcp']);
  });

  test.each([{ port: 0 }, { port: 65_536 }, { port: 80.5 }, { localPort: 0 }, { protocol: 'sctp' as 'tcp' }])(
    'for the port %j',
    async (given) => {
      await expect(set(lab.first.instanceId, given)).rejects.toMatchObject({ kind: 'unprocessable' });
    },
  );

  test('if the model changed, if the machine is being removed, and if the model is being destroyed', async () => {
    const { model, provider } = await stage.bootstrapped();
    const [one, other] = [await addMachine(ctx, { model }, provider), await addMachine(ctx, { model }, provider)];
    await expect(setEndpoint(ctx, { instance: one.instanceId, ...web, ifMatch: 1 })).rejects.toMatchObject({
      ...{ kind: 'precondition_failed', code: 'model_changed' },
    });
    await removeMachine(ctx, { model, machine: one.machine });
    await expect(setEndpoint(ctx, { instance: one.instanceId, ...web })).rejects.toMatchObject({ code: 'role_dying' });
    await destroyModel(ctx, { model, confirm: model });
    await expect(setEndpoint(ctx, { instance: other.instanceId, ...web })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'model_dying' },
    });
  });

  test('of a viewer', async () => {
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    const port = { instance: lab.first.instanceId, ...web };
    await expect(setEndpoint(viewer, port)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(closeEndpoint(viewer, port)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('the list of endpoints', () => {
  test('JU-17 balances SSH and the API of controllers over exactly their roles, with the addresses of their agents', async () => {
    await enrollMachine(ctx, lab.first, '10.0.0.77');
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    const listed = publicEndpoints.parse(await listEndpoints(viewer, { model: lab.model }));
    expect(listed.proxy).toBe('off');
    expect(listed.items.map(({ publicPort }) => publicPort)).toEqual([22, 17_070]);
    for (const one of listed.items) {
      expect(one).toMatchObject({ cloudService: lab.service, slot: 'production', reachable: true, fault: null });
      expect(one.probe).toEqual({ protocol: 'tcp', port: one.publicPort });
      expect(one.members).toMatchObject([
        { instanceId: lab.first.instanceId, address: '10.0.0.77', localPort: one.publicPort, source: 'initial' },
        { instanceId: lab.second.instanceId, address: null, traffic: null },
      ]);
    }
  });

  test('has each machine separately without availability sets', async () => {
    const { model, provider } = await stage.bootstrapped();
    for (const _ of [1, 2]) await addMachine(ctx, { model }, provider);
    const { items } = await listEndpoints(ctx, { model });
    expect(items.map(({ members, set: name }) => [members.length, name])).toEqual([
      [1, null],
      [1, null],
    ]);
    expect(new Set(items.map(({ publicAddress }) => publicAddress)).size).toBe(2);
    await expect(listEndpoints(ctx, { model: 'absent' })).rejects.toMatchObject({ code: 'model_unknown' });
  });

  test('agrees with the topology', async () => {
    await set(lab.second.instanceId, { protocol: 'udp', port: 53, set: true });
    const { cloudServices: services } = await getTopology(ctx, { model: lab.model });
    const shown = services[0]?.deployments[0]?.endpoints.map((one) => [one.publicPort, one.source, one.reachable]);
    expect(shown).toEqual([
      ...[22, 22].map((port) => [port, 'initial', true]),
      [53, 'operator', true],
      ...[17_070, 17_070].map((port) => [port, 'initial', true]),
    ]);
    const { items } = await listEndpoints(ctx, { model: lab.model });
    // UDP cannot be probed, so SSH is.
    expect(items.find(({ publicPort }) => publicPort === 53)).toMatchObject({ probe: { port: 22 }, protocol: 'udp' });
    await close(lab.second.instanceId, { protocol: 'udp', port: 53 });
  });
});
