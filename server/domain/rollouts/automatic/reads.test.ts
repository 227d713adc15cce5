import { beforeAll, expect, test } from 'vitest';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { setStrategy } from '../strategies.ts';
import { type AutomaticStage, automaticStage, tool } from '../testing/automatic-stage.ts';
import { automaticUpgrades, versionExplanation } from './answers.ts';
import { automaticOfHandler } from './automatic-of-handler.ts';
import { whyThisVersion } from './why-this-version.ts';

let stage: AutomaticStage;
beforeAll(async () => {
  stage = await automaticStage();
});

const shown = async () => automaticUpgrades.parse(await automaticOfHandler(stage.operator, { handler: tool }));

/** A schema that requires a setting that earlier versions did not have. */
const strict = {
  publicSettings: { type: 'object', required: ['level'], properties: { level: { type: 'string' } } },
};

test('RO-38 a page says why an extension has its version, and how a handler is upgraded', async () => {
  const [vm] = (await stage.givenTools(1)) as [GivenVm];
  await stage.givenTools(1, { autoUpgradeMinorVersion: false });
  await stage.publish('1.1.0.0');
  await stage.publish('2.0.0.0');
  expect(await shown()).toMatchObject({
    strategy: { name: 'automatic', builtIn: true, isOwn: false },
    vms: 1,
    targets: [
      { version: '2.0.0.0', vms: 0, rollout: null },
      { version: '1.1.0.0', vms: 1, rollout: null },
    ],
    ...{ open: [], last: null },
  });
  await stage.work(1);
  const { id } = await stage.automatic();
  const rollout = { id, kind: 'automatic', state: 'running' };
  expect(versionExplanation.parse(await stage.explain(vm))).toMatchObject({
    ...{ requestedVersion: '1.0.0.0', version: '1.1.0.0', upgradedBy: rollout, handler: tool },
    candidates: [{ version: '2.0.0.0', held: { code: 'other-first-number' } }],
  });
  const running = await shown();
  expect(running.targets[1]).toMatchObject({ vms: 0, rollout });
  expect(running.open).toMatchObject([{ id, counts: { members: 1, inFlight: 1 } }]);

  await stage.settle(vm, 2, '1.1.0.0');
  await stage.publish('1.2.0.0', { settingsSchema: strict });
  await stage.work(400);
  const after = await shown();
  expect(after.last).toMatchObject({ id, state: 'aborted' });
  expect(after.open).toMatchObject([{ state: 'keeping', counts: { members: 0 } }]);
  expect(await stage.heldBack(vm)).toMatchObject({ code: 'settings', fault: 'setting_required' });

  // With the setting, the extension is upgraded.
  const settings = { publicSettings: { level: 'info' } };
  await vm.declare('tool', { handler: tool, autoUpgradeMinorVersion: true, settings });
  await stage.work(500);
  expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.2.0.0']);
});

test('the strategy that names the handler comes before that of every handler', async () => {
  const admin = await testContext({ services: stage.services, role: 'admin' });
  await setStrategy(admin, { name: 'careful', automaticFor: '*' });
  expect((await shown()).strategy).toEqual({ name: 'careful', builtIn: true, isOwn: false });
  await setStrategy(admin, { name: 'slow', rings: [{ name: 'all', upTo: { percent: 100 } }], automaticFor: [tool] });
  expect((await shown()).strategy).toEqual({ name: 'slow', builtIn: false, isOwn: true });
});

test('what does not exist is not found', async () => {
  const { vmId } = (await stage.givenFleet(1))[0] as GivenVm;
  expect(await outcomeOf(whyThisVersion(stage.operator, { vmId, name: 'absent' }))).toBe('not_found extension_absent');
  expect(await outcomeOf(automaticOfHandler(stage.operator, { handler: 'Acme.Lab.None' }))).toBe(
    'not_found handler_unknown',
  );
});
