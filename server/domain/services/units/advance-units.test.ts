import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { services, unitHeads, units } from '#db/schema/index.ts';
import { addMachine } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import type { SetServiceInput } from '../input.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { advanceUnits } from './advance-units.ts';

let stage: ServiceStage;
let off: Staged;
let formula: string;
let [machine, another] = [0, 0];

beforeAll(async () => {
  stage = await ServiceStage.open();
  off = await stage.stage.bootstrapped();
  ({ formula } = await stage.formula('blog'));
  await stage.formula('blog', '1.1.0.0');
  [machine, another] = [await newMachine(), await newMachine()];
});

async function newMachine(): Promise<number> {
  const added = await addMachine(stage.ctx, { model: off.model }, off.provider);
  await stage.enroll(added);
  return added.machine;
}

const rowsOf = (service: string) =>
  stage.ctx.db
    .select({ unit: units })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .where(eq(services.name, service))
    .orderBy(units.number)
    .then((rows) => rows.map(({ unit }) => unit));
const versionsOf = async (service: string) =>
  (await rowsOf(service)).map(({ formulaVersion, settingsVersion }) => `${formulaVersion[2]}/${settingsVersion}`);
const declare = (service: string, more: Partial<SetServiceInput>) =>
  stage.declare(off, service, { formula, version: '1.0', ...more });

async function advance(service: string): Promise<void> {
  const [row] = await rowsOf(service);
  await stage.ctx.db.transaction((tx) => advanceUnits(tx, stage.ctx, row?.serviceId ?? ''));
}

/** Has units confirm the versions that they should have, as if their hooks had run, and the next units follow. */
async function settle(service: string, only = sql`true`): Promise<void> {
  await stage.ctx.db.execute(sql`
    update units set failing = '{}', record = record || jsonb_build_object('formula', formula_version,
        'started', jsonb_build_object('boot', 'boot-1'),
        'configured', jsonb_build_object('formula', formula_version, 'settings', settings_version, 'boot', 'boot-1'))
     where name like ${`${service}/%`} and ${only}`);
  await advance(service);
}

/** Declares a service whose units have started. */
async function started(service: string, count: number, more: Partial<SetServiceInput> = {}): Promise<void> {
  await declare(service, { units: count, to: machine, ...more });
  await stage.look((await rowsOf(service))[0]?.vmId ?? '');
  await settle(service);
}

const upgrade = { version: '1.1' };
const change = { settings: { a: 1 } };

describe('EN-56 of four units that have started', () => {
  beforeAll(() => started('four', 4));

  test.each<[string, Partial<SetServiceInput>, Partial<SetServiceInput>, number[]]>([
    ['one changes its version', {}, upgrade, [1, 2, 3, 4]],
    ['one changes its settings', {}, change, [1, 2, 3, 4]],
    ['two change their version', { upgrade: { atOnce: 2 } }, upgrade, [2, 4]],
    ['three change their settings', { configure: { atOnce: 3 } }, change, [3, 4]],
    ['all change their version', { upgrade: { atOnce: 'all' } }, upgrade, [4]],
    ['all change their settings', { configure: { atOnce: 'all' } }, change, [4]],
    ['the limit of settings is not that of versions', { configure: { atOnce: 'all' } }, upgrade, [1, 2, 3, 4]],
    ['the limit of versions is not that of settings', { upgrade: { atOnce: 'all' } }, change, [1, 2, 3, 4]],
    ['a change of both obeys the limit of versions', { upgrade: { atOnce: 3 } }, { ...upgrade, ...change }, [3, 4]],
    ['a limit above the number of units is all', { upgrade: { atOnce: 1_000 } }, upgrade, [4]],
  ])('%s', async (_, limits, changed, waves) => {
    const one = { atOnce: 1 };
    await declare('four', { version: '1.0', settings: {}, upgrade: one, configure: one, ...limits });
    await stage.ctx.db.execute(sql`
      update units u set formula_version = s.formula_version, settings_version = s.settings_version
        from services s where s.id = u.service_id and s.name = 'four'`);
    await settle('four');
    const old = new Set(await versionsOf('four'));
    expect(old.size).toBe(1);
    await declare('four', changed);
    for (const wave of waves) {
      // Those with the lowest numbers are first.
      const changes = (await versionsOf('four')).map((version) => !old.has(version));
      expect(changes).toEqual([0, 1, 2, 3].map((number) => number < wave));
      await settle('four');
    }
  });
});

describe('a change', () => {
  test('of units that have not started reaches them all', async () => {
    await declare('unborn', { units: 3, to: machine });
    await declare('unborn', { ...upgrade, ...change });
    expect(await versionsOf('unborn')).toEqual(['1/2', '1/2', '1/2']);
  });

  test('stops at a unit whose hook fails with the new version, until the hook succeeds', async () => {
    await started('stopped', 4, { upgrade: { atOnce: 2 } });
    await declare('stopped', upgrade);
    const [first] = await rowsOf('stopped');
    await stage.run({ unit: 'stopped/0', vmId: first?.vmId ?? '' }, 'upgrade-formula', 1);
    await settle('stopped', sql`number = 1`);
    expect(await versionsOf('stopped')).toEqual(['1/1', '1/1', '0/1', '0/1']);
    await settle('stopped', sql`number = 0`);
    expect(await versionsOf('stopped')).toEqual(['1/1', '1/1', '1/1', '1/1']);
  });

  test('is not stopped by a failure that is no longer due, nor by one of a unit that confirmed everything', async () => {
    await started('free', 2);
    const failure = { hook: 'gone-relation-changed', run: crypto.randomUUID(), failures: 1, outcome: 'failed' };
    const slot = JSON.stringify({ 9999: { ...failure, exitCode: 1, since: new Date().toISOString() } });
    await stage.ctx.db.execute(sql`update units set failing = ${slot}::jsonb where name = 'free/0'`);
    await declare('free', upgrade);
    await settle('free', sql`number = 0`);
    expect(await versionsOf('free')).toEqual(['1/1', '1/1']);
  });

  test('begins again with a newer version at the unit that is out of service', async () => {
    await started('newer', 3);
    await declare('newer', change);
    await declare('newer', { settings: { a: 2 } });
    expect(await versionsOf('newer'), 'version 2 is left out').toEqual(['0/3', '0/1', '0/1']);
  });

  test('leaves out units that are being removed, and a service that is being removed', async () => {
    await started('leaving', 3);
    await stage.ctx.db.execute(sql`update units set life = 'dying' where name = 'leaving/0'`);
    await declare('leaving', change);
    expect(await versionsOf('leaving')).toEqual(['0/1', '0/2', '0/1']);
    await stage.ctx.db.execute(sql`update services set life = 'dying' where name = 'leaving'`);
    await settle('leaving');
    expect(await versionsOf('leaving')).toEqual(['0/1', '0/2', '0/1']);
  });

  test('takes a new turn of the VM for units that change only, and nothing happens without a change', async () => {
    await started('turns', 2);
    const turns = async () => (await rowsOf('turns')).map(({ turn }) => turn);
    const before = await turns();
    await advance('turns');
    expect(await turns()).toEqual(before);
    await declare('turns', change);
    const [first = 0, second] = await turns();
    expect(first).toBeGreaterThan(Math.max(...before));
    expect(second).toBe(before[1]);
  });

  test('reaches only the machines of units that change', async () => {
    await started('apart', 1);
    await declare('apart', { units: 2, to: another });
    await stage.look((await rowsOf('apart'))[1]?.vmId ?? '');
    await settle('apart');
    const revisions = async () => {
      const heads = await stage.ctx.db.select().from(unitHeads);
      const of = new Map(heads.map(({ vmId, revision }) => [vmId, revision]));
      return (await rowsOf('apart')).map(({ vmId }) => of.get(vmId) ?? 0);
    };
    const [first = 0, second] = await revisions();
    await declare('apart', change);
    const [after, other] = await revisions();
    expect(after).toBeGreaterThan(first);
    expect(other).toBe(second);
  });
});

test('a service that does not exist has no units to change', async () => {
  const absent = stage.ctx.db.transaction((tx) => advanceUnits(tx, stage.ctx, crypto.randomUUID()));
  expect(await absent).toBeUndefined();
});
