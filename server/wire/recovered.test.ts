import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { givenStockVm, openWireDoor, type WireDoor } from '#server/testing/stock-agent.ts';

let ctx: Context;
let door: WireDoor;

beforeAll(async () => {
  ctx = await testContext({ services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  door = await openWireDoor(ctx);
  await givenVersion(ctx.db);
  for (const [lang, text] of [
    ['en', 'Watching {0}. Enabled {1} times.'],
    ['de', '{0} wird beobachtet. {1}-mal aktiviert.'],
  ]) {
    const file = [{ version: 1, lang, messages: [{ id: 'watching', text }] }];
    await setResources(ctx, { handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: lang ?? '', file });
  }
});
afterAll(() => door.close());

test('shows an English message of a stock agent in German, as recovered, and leaves other messages unchanged', async () => {
  const vm = await givenStockVm(ctx, door, 'recovered');
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(ctx, { vmId: vm.vmId, name: 'probe', goal });
  const answer = await vm.report(({ aggregateStatus: { handlerAggregateStatus } }) => {
    const formatted = (message: string) => ({ formattedMessage: { lang: 'en-US', message } });
    const part = { name: 'target', status: 'success', code: 0, ...formatted('Watching b. Enabled 2 times.') };
    const status = {
      ...{ name: 'Acme.Lab.Probe', operation: 'Enable', status: 'success', code: 0 },
      ...formatted('Watching a. Enabled 1 times.'),
      substatus: [part, { ...part, ...formatted('Something else.') }],
    };
    Object.assign(handlerAggregateStatus[0]?.runtimeSettingsStatus ?? {}, {
      settingsStatus: { version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status },
    });
  });
  expect(answer.status).toBe(200);
  const { extensions } = await getInstanceView({ ...ctx, now: new Date() }, { vmId: vm.vmId, chosenLanguage: 'de' });
  const [probe] = extensions;
  expect(probe?.status?.message).toMatchObject({
    text: 'a wird beobachtet. 1-mal aktiviert.',
    source: 'recovered',
    id: 'watching',
    original: 'Watching a. Enabled 1 times.',
  });
  expect(probe?.status?.substatus.map(({ message }) => [message?.text, message?.source])).toEqual([
    ['b wird beobachtet. 2-mal aktiviert.', 'recovered'],
    ['Something else.', 'formatted'],
  ]);
});
