import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoints, services, unitPorts, units } from '#db/schema/index.ts';
import type { UnitRunEnd } from '#protocol/unit-runs.ts';
import { readReachable } from '#server/domain/topology/index.ts';
import { type LabService, newService } from '#server/domain/topology/testing/lab-service.ts';
import { newStage } from '#server/domain/topology/testing/stage.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { removeUnitsIn } from '../units/index.ts';
import { beginRun } from './begin-run.ts';
import { endRun } from './end-run.ts';

let stage: UnitStage;
let lab: LabService;
let service: string;

beforeAll(async () => {
  stage = await UnitStage.open();
  lab = await newService(await newStage(stage.ctx));
  service = await stage.service('blog');
});
afterAll(() => stage.close());

const succeeded: UnitRunEnd = {
  ...{ phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '', views: [], reason: null },
};

/** Runs a hook that opens and closes ports. */
async function run(unit: string, ports: UnitRunEnd['ports'], end: Partial<UnitRunEnd> = {}) {
  const name = { vmId: lab.first.vmId, unit, run: uuid() };
  const begin = {
    phase: 'begin' as const,
    hook: 'config-changed',
    attempt: 1,
    formula: '1.0.0.0',
    timeoutSeconds: 300,
  };
  await beginRun(stage.ctx, name, begin);
  return endRun(stage.ctx, name, { ...succeeded, ...(ports && { ports }), ...end });
}

const opened = async () => {
  const rows = await stage.ctx.db.select().from(endpoints).where(eq(endpoints.vmId, lab.first.vmId));
  return rows.filter(({ source }) => source.startsWith('unit:')).map(({ publicPort, source }) => [publicPort, source]);
};
const portsOf = async (id: string) => {
  const rows = await stage.ctx.db.select().from(unitPorts).where(eq(unitPorts.unitId, id));
  return rows.map(({ port, protocol }) => `${port}/${protocol}`).sort();
};
const isReachable = async (port: number) => {
  const { endpoints: all } = await readReachable(stage.ctx);
  return all.some(({ cloudService, publicPort }) => cloudService === lab.service && publicPort === port);
};

test('EN-62 ports open and close with the end of the hook, and a failed hook opens nothing', async () => {
  const { id, name } = await stage.place(service, lab.first.vmId);
  await run(name, { open: ['8080/tcp', '53/udp'], close: [] });
  expect(await portsOf(id)).toEqual(['53/udp', '8080/tcp']);
  expect(await opened()).toEqual(expect.arrayContaining([[8_080, `unit:${name}`]]));
  await run(name, undefined, { exitCode: 1 });
  await run(name, { open: ['8081/tcp'], close: ['53/udp', '9/tcp'] });
  expect(await portsOf(id)).toEqual(['8080/tcp', '8081/tcp']);
  expect(await isReachable(8_080), 'a service that is not exposed').toBe(false);
  await stage.ctx.db.update(services).set({ exposed: true }).where(eq(services.id, service));
  expect(await isReachable(8_080)).toBe(true);

  const other = await stage.place(service, lab.first.vmId);
  await expect(run(other.name, { open: ['8080/tcp'], close: [] })).rejects.toMatchObject({
    ...{ kind: 'unprocessable', code: 'port_conflict' },
  });
  const [row] = await stage.ctx.db.select().from(units).where(eq(units.id, other.id));
  expect(row?.failing.unit, 'the run counts as failed').toMatchObject({ outcome: 'refused', failures: 1 });
  expect(await portsOf(other.id)).toEqual([]);

  await stage.ctx.db.transaction((tx) => removeUnitsIn(tx, stage.ctx, [id], { keepsMachines: true }));
  expect(await opened()).toEqual([]);
  await run(other.name, { open: ['8080/tcp'], close: [] });
  expect(await opened()).toEqual([[8_080, `unit:${other.name}`]]);
});
