import { beforeEach, expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { type AutomaticStage, automaticStage, tool } from '../testing/automatic-stage.ts';
import { whyThisVersion } from './why-this-version.ts';

let stage: AutomaticStage;
beforeEach(async () => {
  stage = await automaticStage();
});

const why = ({ vmId }: GivenVm) => whyThisVersion(stage.operator, { vmId, name: 'tool' });
const versionOf = async (vm: GivenVm) => {
  const { requestedVersion, version } = await why(vm);
  return [requestedVersion, version];
};

test('RO-38, AZ-G10 a published version is rolled out by itself, and what was requested stays', async () => {
  const [vm] = (await stage.givenTools(1)) as [GivenVm];
  const [manual] = (await stage.givenTools(1, { autoUpgradeMinorVersion: false })) as [GivenVm];
  await stage.work(0);
  expect(await stage.automatics()).toEqual([]);

  await stage.publish('1.1.0.0');
  await stage.publish('2.0.0.0');
  await stage.work(1);
  expect(await versionOf(vm)).toEqual(['1.0.0.0', '1.1.0.0']);
  expect(await versionOf(manual)).toEqual(['1.0.0.0', '1.0.0.0']);
  const { id, name, state, definition } = await stage.automatic();
  expect({ name, state }).toEqual({ name: `${tool} 1.1.0.0 (automatic)`, state: 'running' });
  expect(definition.strategy).toBe('automatic');

  await stage.succeed(vm, 2, stage.reported('1.1.0.0', 2));
  await stage.work(303);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
  // Repeating the request undoes nothing.
  await vm.declare('tool', { handler: tool, autoUpgradeMinorVersion: true });
  expect(await versionOf(vm)).toEqual(['1.0.0.0', '1.1.0.0']);
});
