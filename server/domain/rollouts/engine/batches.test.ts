import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { rollouts, secrets } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { sealGiven } from '../secrets.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

type Step = Awaited<ReturnType<RolloutStage['steps']>>[number];
let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

test('RO-39 each batch is one line of the activity, with the digest of what it published', async () => {
  const vms = await stage.givenFleet(2);
  const id = await stage.givenRollout(vms);
  await stage.pass(1);
  const lines = (await stage.steps(id)).map(({ vmId, incarnation }) => `${vmId} ${incarnation}\n`).sort();
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex');
  expect(await stage.activity(id, 'rollout.batch')).toMatchObject([
    { actorId: `rollout/${id}`, actorName: 'probe 1.1', details: { ring: 0, count: 2, sha256 } },
  ]);
});

test('RO-39 protected settings of a change are sealed for each VM, and destroyed when the rollout ends', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { change: { protectedSettings: 'given' } });
  const sealed = await stage.db.transaction((tx) =>
    sealGiven(tx, stage.operator, { id, change: { kind: 'set' } }, { password: 'hush' }),
  );
  await stage.db.update(rollouts).set(sealed);
  await stage.pass(1);
  const [stored] = await stage.db.select().from(secrets).where(eq(secrets.vmId, vm.vmId));
  expect(stored).toMatchObject({ name: 'probe', changedBy: 'probe 1.1' });
  await stage.succeed(vm, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished', sealed: null });
});

test('RO-24 changed VMs are watched together with VMs of later rings, and it counts which of the two fails first', async () => {
  const vms = await stage.givenFleet(8);
  const compare = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' } as const;
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, soakSeconds: 300, compare }, { size: 5 }] });
  const of = (vmId: string | null) => vms.find((vm) => vm.vmId === vmId) as GivenVm;
  await stage.pass(1);
  const [one, two, three] = (await stage.steps(id)) as [Step, Step, Step];
  const controls = [one, two, three].map(({ pairVmId }) => of(pairVmId));
  expect(new Set(controls).size).toBe(3);
  expect((await stage.rings(id))[0]?.counts).toMatchObject({ pairs: 3, pairsOpen: 3 });
  for (const vm of controls) expect(await stage.step(id, vm)).toBeUndefined();
  await stage.fail(of(one.vmId), 10);
  await of(two.vmId).deliver(stage.at(10));
  await stage.report(of(two.pairVmId), 10, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
  await stage.succeed(of(three.vmId), 10);
  await stage.look(11);
  await stage.look(320);
  expect((await stage.steps(id)).map(({ pairResult }) => pairResult).slice(0, 3)).toEqual([
    'changed-first',
    'control-first',
    'neither',
  ]);
  expect((await stage.rings(id))[0]?.counts).toMatchObject({
    changedFirst: 1,
    controlFirst: 1,
    pairsNeither: 1,
    pairsOpen: 0,
  });
});

test('newcomers join the end of the last ring', async () => {
  const [known] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
  await stage.fold(0);
  const tagged = { tags: [{ name: 'env', value: 'prod' }] };
  const id = await stage.givenRollout([known], { newcomers: 'include', select: { include: tagged } });
  await stage.pass(1);
  await stage.succeed(known, 10);
  await stage.look(11);
  await stage.look(12);
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
  const [joins] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
  await stage.fold(20);
  await stage.look(80);
  expect(await stage.step(id, joins)).toMatchObject({ state: 'inFlight', ring: 0, place: 1 });
  expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
});
