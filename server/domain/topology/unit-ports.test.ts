import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cloudServices, endpoints } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { changeUnitPorts, closeUnitPorts, setEndpoint, type UnitPort } from './index.ts';
import { type LabService, newService } from './testing/lab-service.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let lab: LabService;
beforeAll(async () => {
  stage = await newStage();
  ({ ctx } = stage);
});
beforeEach(async () => {
  lab = await newService(stage);
});

const tcp = (port: number): UnitPort => ({ protocol: 'tcp', port });
const udp = (port: number): UnitPort => ({ protocol: 'udp', port });

/** Opens and closes ports of a unit on the first or the second role. */
const change = (unit: string, open: UnitPort[], close: UnitPort[] = [], vmId = lab.first.vmId) =>
  ctx.db.transaction((tx) => changeUnitPorts(tx, ctx, { vmId, unit, open, close }));

async function portsOf(vmId = lab.first.vmId): Promise<[string, string | null, string][]> {
  const rows = await ctx.db.select().from(endpoints).where(eq(endpoints.vmId, vmId));
  return rows
    .filter(({ source }) => source !== 'initial')
    .map(({ protocol, publicPort, setName, source }): [string, string | null, string] => {
      return [`${publicPort}/${protocol}`, setName, source];
    })
    .sort();
}

const dueAt = async () => {
  const [row] = await ctx.db
    .select({ at: cloudServices.providerDueAt })
    .from(cloudServices)
    .where(eq(cloudServices.name, lab.service));
  return row?.at ?? null;
};

describe('ports of units', () => {
  test('EN-62 are opened for the unit, with the local port of the same number, and the provider learns of them', async () => {
    await change('blog/0', [tcp(80), udp(53)]);
    expect((await portsOf()).map(([port, , source]) => [port, source])).toEqual([
      ['53/udp', 'unit:blog/0'],
      ['80/tcp', 'unit:blog/0'],
    ]);
    const [row] = await ctx.db
      .select()
      .from(endpoints)
      .where(and(eq(endpoints.vmId, lab.first.vmId), eq(endpoints.publicPort, 80)));
    expect(row).toMatchObject({ localPort: 80, cloudService: lab.service, createdBy: 'unit:blog/0' });
    expect(await dueAt()).not.toBeNull();
  });

  test('JU-15 are balanced over the roles whose units opened them', async () => {
    await change('blog/0', [tcp(80)]);
    await change('blog/1', [tcp(80)], [], lab.second.vmId);
    const sets = [await portsOf(lab.first.vmId), await portsOf(lab.second.vmId)].flat().map(([, set]) => set);
    expect(new Set(sets).size).toBe(1);
    expect(sets[0]).not.toBeNull();
  });

  test('that are open already stay as they are', async () => {
    await change('blog/0', [tcp(80)]);
    const before = await portsOf();
    await change('blog/0', [tcp(80)]);
    expect(await portsOf()).toEqual(before);
  });

  test('EN-62 conflict with those of another unit, of an operator, and with SSH', async () => {
    await change('blog/0', [tcp(80)]);
    const conflict = { kind: 'unprocessable', code: 'port_conflict' };
    await expect(change('store/0', [tcp(80)])).rejects.toMatchObject(conflict);
    await expect(change('store/0', [tcp(22)])).rejects.toMatchObject(conflict);
    const given = { instance: lab.first.instanceId, protocol: 'tcp' as const, port: 443 };
    await setEndpoint(ctx, given, lab.provider);
    await expect(change('store/0', [tcp(8_080), tcp(443)])).rejects.toMatchObject(conflict);
    expect(
      (await portsOf()).map(([port]) => port),
      'nothing of it is stored',
    ).toEqual(['443/tcp', '80/tcp']);
  });

  test('are closed only by the unit that opened them', async () => {
    await change('blog/0', [tcp(80), tcp(81)]);
    await change('store/0', [], [tcp(80)]);
    await change('blog/0', [], [tcp(81), tcp(9_999)]);
    await change('blog/0', [], [tcp(22)]);
    expect((await portsOf()).map(([port]) => port)).toEqual(['80/tcp']);
    const initial = await ctx.db.select().from(endpoints).where(eq(endpoints.publicPort, 22));
    expect(initial.length).toBeGreaterThan(0);
  });

  test('a role has at most 256 endpoints', async () => {
    const many = Array.from({ length: 257 }, (_, at) => tcp(10_000 + at));
    await expect(change('blog/0', many)).rejects.toMatchObject({ code: 'endpoints_too_many' });
    expect(await portsOf()).toEqual([]);
  });

  test('are closed when the unit leaves, and those of other units stay', async () => {
    await change('blog/0', [tcp(80)]);
    await change('store/0', [tcp(81)]);
    const units = [
      { vmId: lab.first.vmId, name: 'blog/0' },
      { vmId: lab.second.vmId, name: 'store/0' },
    ];
    await ctx.db.transaction((tx) => closeUnitPorts(tx, ctx, units));
    expect((await portsOf()).map(([port]) => port)).toEqual(['81/tcp']);
    await ctx.db.transaction((tx) => closeUnitPorts(tx, ctx, []));
  });

  test('a VM that is not a machine of a model has none', async () => {
    await expect(change('blog/0', [tcp(80)], [], '01980000-0000-7000-8000-000000000000')).resolves.toBeUndefined();
  });
});
