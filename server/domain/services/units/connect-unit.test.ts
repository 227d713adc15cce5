import { beforeAll, expect, test } from 'vitest';
import { removeUnit } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { connectUnit } from './connect-unit.ts';

let stage: ServiceStage;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  blog = await stage.formula('blog');
});

test('JU-17 a connection to a unit uses its internal address through the controllers, never the shared name', async () => {
  const staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
  const { newUnits } = await stage.declare(staged, 'blog', { ...blog, units: 2 });
  const [controller] = staged.newMachines;
  const shared = newUnits[0]?.machine?.cloudService ?? '';
  for (const { unit, machine } of newUnits) {
    const connection = await connectUnit(stage.ctx, { model: staged.model, unit });
    const [address, through] = [machine?.assignedAddress, `${controller?.cloudService}.test`];
    expect(connection).toEqual({ address, through, command: `ssh -J annex@${through} annex@${address}` });
    expect(JSON.stringify(connection)).not.toContain(shared);
  }
});

test('a connection goes through the portal without controllers, and not to a unit that was removed', async () => {
  const { model, provider, ...rest } = await stage.stage.bootstrapped({ availabilitySetsEnabled: false });
  await stage.declare({ model, provider, ...rest }, 'blog', blog);
  const connect = () => connectUnit(stage.ctx, { model, unit: 'blog/0' });
  expect((await connect()).through).toBe(new URL(stage.ctx.config.url).hostname);
  const viewed = connectUnit(stage.viewer, { model, unit: 'blog/0' });
  await expect(viewed).rejects.toMatchObject({ kind: 'forbidden' });
  await removeUnit(stage.ctx, { model, unit: 'blog/0' });
  await expect(connect()).rejects.toMatchObject({ code: 'unit_unknown' });
});
