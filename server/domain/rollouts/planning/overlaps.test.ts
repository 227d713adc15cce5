import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import {
  decidedSteps,
  exemptSteps,
  openStates,
  rolloutStates,
  stepStates,
} from '#server/domain/rollout-rules/words.ts';
import { seal } from '#server/platform/keys.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { givenPlanning, membersOf, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { givenPlan } from '../testing/given-plan.ts';
import { givenStep } from '../testing/given-rollout.ts';
import { planRollout } from './plan-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
const vms: GivenVm[] = [];
/** A VM with two extensions of one handler. */
let both: GivenVm;
const ids = () => vms.map(({ vmId }) => vmId);

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  for (let n = 0; n < 3; n++) {
    const vm = await givenVm(services);
    await vm.declare('probe');
    vms.push(vm);
  }
  const many = { handler: 'Acme.Lab.Many', version: '1.0.0.0' };
  await givenVersion(services.db, { ...many, supportsMultipleExtensions: true });
  both = await givenVm(services);
  for (const name of ['probe', 'other']) await both.declare(name, many);
});

afterEach(() => services.db.delete(rollouts));

const planned = (definition: Partial<Definition> = {}, values: Parameters<typeof givenPlan>[2] = {}) =>
  givenPlan(services, { select: { ids: ids() }, ...definition }, values);
const overlaps = async (definition: Partial<Definition> = {}, values: Parameters<typeof givenPlan>[2] = {}) =>
  (await planned(definition, values)).plan.overlaps.map(({ name, members }) => `${name}: ${members}`);

describe('RO-14 an earlier rollout', () => {
  test.each(rolloutStates)('in the state %s overlaps only if it is open', async (state) => {
    const { id } = await planned();
    await setRollout(services, id, { state, name: 'Earlier' });
    const isOpen = (openStates as readonly string[]).includes(state);
    expect(await overlaps()).toEqual(isOpen ? ['Earlier: 3'] : []);
  });

  test.each(stepStates)(
    'that has a step %s on a VM overlaps there as long as it can still change the VM',
    async (state) => {
      const { id } = await planned();
      await setRollout(services, id, { state: 'running', name: 'Earlier' });
      const ctx = await testContext({ services });
      await givenStep(ctx, { rolloutId: id, vmId: ids()[0] ?? '', state });
      const isOver = [...decidedSteps, ...exemptSteps.filter((one) => one !== 'parked')].some((one) => one === state);
      expect(await overlaps()).toEqual([`Earlier: ${isOver ? 2 : 3}`]);
    },
  );

  test.each([
    ['probe', 'probe', true],
    ['probe', 'other', false],
    ['probe', null, true],
    [null, 'probe', true],
    [null, null, true],
  ])('of the extension %s overlaps with one of %s: %s', async (earlier, later, expected) => {
    const disabling = { ...upgrade, handler: 'Acme.Lab.Many', version: null, state: 'disabled' as const };
    const select = { ids: [both.vmId] };
    const { id } = await planned({ select, change: { ...disabling, extension: earlier } });
    await setRollout(services, id, { state: 'running', name: 'Earlier' });
    const { plan } = await planned({ select, change: { ...disabling, extension: later } });
    expect(plan.members).toBe(1);
    expect(plan.overlaps).toEqual(expected ? [{ id, name: 'Earlier', members: 1 }] : []);
  });

  test('of another handler does not overlap, and one that names no handler does', async () => {
    const { id } = await planned();
    await setRollout(services, id, { state: 'running', name: 'Earlier', handler: 'Acme.Lab.Mount' });
    expect(await overlaps()).toEqual([]);
    await setRollout(services, id, { handler: null });
    expect(await overlaps()).toEqual(['Earlier: 3']);
  });

  test('RO-38 that is automatic does not overlap, because it gives way', async () => {
    const { id } = await planned();
    await setRollout(services, id, { state: 'running', name: 'Earlier', kind: 'automatic' });
    expect(await overlaps()).toEqual([]);
  });

  test('is listed with others in the order in which they were created', async () => {
    for (const [name, place] of [
      ['Second', 2],
      ['First', 1],
    ] as const) {
      const { id } = await planned({ select: { ids: ids().slice(0, place) } });
      await setRollout(services, id, { state: 'paused', name, createdAt: new Date(place * 1_000) });
    }
    expect(await overlaps()).toEqual(['First: 1', 'Second: 2']);
  });
});

describe('RO-39 protected settings of a change', () => {
  const secret = 'correct horse battery staple';
  const change = { ...upgrade, version: null, protectedSettings: 'given' as const };

  test('are a change of settings, and no plan contains them', async () => {
    const id = await givenPlanning(services, { change, select: { ids: ids() } });
    const sealed = seal(services.keys.sealing, Buffer.from(JSON.stringify({ secret })), `rollout/${id}`);
    await setRollout(services, id, { sealed, setBy: 'user:test' });
    await planRollout(services, id);
    const row = await rowOf(services, id);
    expect(row.plan).toMatchObject({ members: 3, kinds: { settings: 3 } });
    expect(JSON.stringify(row)).not.toContain(secret);
    expect((await membersOf(services, id)).map(({ kind }) => kind)).toEqual(Array(3).fill('settings'));
  });

  test('that are bound to another rollout cannot be used for this one', async () => {
    const id = await givenPlanning(services, { change, select: { ids: ids() } });
    const sealed = seal(services.keys.sealing, Buffer.from('{}'), `rollout/${ids()[0]}`);
    await setRollout(services, id, { sealed });
    await expect(planRollout(services, id)).rejects.toThrow();
    expect(await rowOf(services, id)).toMatchObject({ state: 'planning', plan: null });
  });
});

test('a plan whose worker stops stores nothing, and another worker makes it', async () => {
  const id = await givenPlanning(services, { select: { ids: ids() } });
  const stopping = AbortSignal.abort(new Error('stopping'));
  await expect(planRollout({ ...services, signal: stopping }, id)).rejects.toThrow('stopping');
  expect(await rowOf(services, id)).toMatchObject({ state: 'planning', plan: null, members: 0 });
  expect(await membersOf(services, id)).toEqual([]);
  expect(await planRollout(services, id)).toBe('done');
  expect(await rowOf(services, id)).toMatchObject({ state: 'planned', members: 3 });
});
