import { afterAll, beforeAll, expect, test } from 'vitest';
import { probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-faults');
});
afterAll(async () => {
  await stage?.close();
});

const document = (status: object) => JSON.stringify([{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status }]);
const sound = { name: 'probe', operation: 'Enable', status: 'success', code: 0 };
const text = (message: unknown) => ({ lang: 'en-US', message });

/**
 * Name of the case, a handler's status file, and the status that the page shows after the agent has processed the file.
 */
const cases: [string, string, 'success' | 'error' | 'either'][] = [
  ['no JSON', 'not json {', 'error'],
  ['half a document', '[{"version": 1.0, "status": {"status": "succ', 'error'],
  ['an object instead of a list', '{"status": {}}', 'error'],
  ['a word that is none', document({ ...sound, status: 'splendid', formattedMessage: text('x') }), 'error'],
  ['a message without text', document({ ...sound, formattedMessage: { lang: 'en-US' } }), 'error'],
  ['a code in words', document({ ...sound, code: '3', formattedMessage: text('Fine.') }), 'success'],
  [
    'control characters and an odd plane',
    document({ ...sound, formattedMessage: text('a\u0001b \u{1F600} <&>]]>') }),
    'either',
  ],
  ['far too much text', document({ ...sound, formattedMessage: text('z'.repeat(150_000)) }), 'either'],
];

for (const [name, raw, word] of cases) {
  test(`a status file with ${name}: the VM keeps reporting, and the next file is read`, async () => {
    const { sequenceNumber } = await stage.api.setExtension(vm.vmId, 'probe', {
      handler: probe,
      version: '1.0.0.0',
      settings: { publicSettings: { raw } },
    });
    const seen = await vm.until('probe', ({ status }) => expect(status?.sequenceNumber).toBe(sequenceNumber));
    expect(word === 'either' ? ['success', 'error'] : [word]).toContain(seen.status?.status);
    expect((await vm.view()).agent.status).toBe('ready');
  });
}

test('an unreadable heartbeat does not count as ready, and a readable heartbeat corrects this', async () => {
  const set = (publicSettings: object) =>
    stage.api.setExtension(vm.vmId, 'probe', { handler: probe, version: '1.0.0.0', settings: { publicSettings } });
  await set({ rawHeartbeat: 'thump' });
  await vm.until('probe', ({ heartbeat }) => expect(heartbeat.verdict).not.toBe('ready'));
  await set({
    rawHeartbeat: JSON.stringify([{ version: 1.0, heartbeat: { status: 'banana', code: 0, message: 'x' } }]),
  });
  await vm.until('probe', ({ heartbeat }) => expect(heartbeat.verdict).not.toBe('ready'));
  await set({ target: 'well' });
  await vm.until('probe', ({ heartbeat, health }) => expect([heartbeat.verdict, health]).toEqual(['ready', 'healthy']));
});
