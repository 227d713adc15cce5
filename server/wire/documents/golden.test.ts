import { expect, test } from 'vitest';
import type { GoalStateExtension } from '#protocol/index.ts';
import type { StockExtension, StockGoalState } from '#server/domain/stock-agents/index.ts';
import { elementsOf, readXml } from '#server/testing/stock-agent.ts';
import { extensionsConfigXml } from './extensions-config.ts';
import { goalStateXml, hostingEnvironmentXml, sharedConfigXml, versionsXml } from './goal-state.ts';
import { certificatesXml, manifestXml } from './packages.ts';
import { asciiJson, xmlOf } from './xml.ts';

const vmId = '0199a000-0000-7000-8000-000000000001';
const timeouts = { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 };

function extension(
  name: string,
  handler: string,
  over: Partial<GoalStateExtension>,
  stock: Partial<StockExtension> = {},
) {
  const sha256 = 'ab'.repeat(32);
  const goal: GoalStateExtension = {
    ...{ name, handler, version: '1.0.0.0', state: 'enabled', sequenceNumber: 1, dependsOn: [], timeouts },
    package: { sha256, size: 1_234, url: `/agent/v1/packages/${sha256}` },
    settings: { publicSettings: {} },
    ...over,
  };
  return { goal, version: '1.0.0.0', wireName: null, level: 0, reportsHeartbeat: false, ...stock };
}

const goalState: StockGoalState = {
  etag: '"test.7"',
  incarnation: 7,
  movedAt: new Date('2026-01-01T00:00:00Z'),
  containerId: '0199a000-0000-4000-8000-00000000000c',
  onHold: false,
  extensions: [
    extension('probe', 'Acme.Lab.Probe', {
      sequenceNumber: 3,
      settings: {
        publicSettings: { text: '<&> "quoted" ]]> größe \u2028 \ufffe', number: 1 },
        protectedSettings: 'MIIB',
        protectedSettingsCertThumbprint: 'AB'.repeat(20),
      },
    }),
    extension('after', 'Acme.Lab.After', { dependsOn: ['probe', 'first'] }, { level: 1, version: '2.1.0.0' }),
    extension('gone', 'Acme.Lab.Gone', { state: 'uninstall', sequenceNumber: 2 }),
    extension('off', 'Acme.Lab.Off', { state: 'disabled' }),
    extension('first', 'Acme.Lab.Many', {}, { wireName: 'first' }),
    extension('second', 'Acme.Lab.Many', { state: 'disabled', dependsOn: ['first'] }, { wireName: 'second', level: 1 }),
  ],
  sightings: [],
  heard: { version: '', os: {}, settled: null },
};

/** Puts each tag on its own line, for readable diffs. */
const lines = (xml: string): string => `${xml.replaceAll('><', '>\n<')}\n`;

test.each<[string, string]>([
  ['versions', versionsXml],
  ['goal-state', goalStateXml(vmId, goalState)],
  ['goal-state-without-secrets', goalStateXml(vmId, { ...goalState, extensions: [] })],
  ['hosting-environment', hostingEnvironmentXml({ id: vmId, name: 'web-ä&1' }, goalState)],
  ['shared-config', sharedConfigXml({ id: vmId, name: 'web-ä&1' }, goalState)],
  ['extensions-config', extensionsConfigXml(vmId, goalState, 'secret')],
  ['extensions-config-empty', extensionsConfigXml(vmId, { ...goalState, extensions: [] }, 'secret')],
  ['certificates', certificatesXml(Buffer.alloc(100, 'x'), 7)],
  ['manifest', manifestXml('acme.lab.probe', goalState) ?? ''],
])('%s', async (name, xml) => {
  expect(() => readXml(xml)).not.toThrow();
  await expect(lines(xml)).toMatchFileSnapshot(`./golden/${name}.xml`);
});

test('handlers find deployment, role and instance in SharedConfig', () => {
  const config = readXml(sharedConfigXml({ id: vmId, name: 'web-1' }, goalState));
  const attributes = (name: string) => elementsOf(config, name).map((element) => element.attributes);
  expect(attributes('Deployment')).toMatchObject([{ name: vmId, incarnation: '7' }]);
  expect(attributes('Incarnation')).toMatchObject([{ number: '7', instance: 'web-1' }]);
  expect(attributes('Role')).toMatchObject([{ name: 'web-1' }]);
  expect(attributes('Instances')).toHaveLength(1);
  expect(attributes('Instance')).toMatchObject([{ id: 'web-1', address: '' }]);
});

test('settings arrive unchanged, in ASCII, whatever they contain', () => {
  const value = { a: '\u0000\u001f\u007f\ud800 \u2028 \ufffe \u{1f600} ]]> <![CDATA[', 'k"<': "it's" };
  const text = asciiJson(value);
  expect(text).not.toMatch(/[^\u0020-\u007e]/);
  const { children } = readXml(xmlOf({ Settings: text }));
  expect(JSON.parse(children[0]?.text ?? '')).toEqual(value);
});

test('a document stays well-formed if a text contains characters that XML does not allow', () => {
  expect(readXml(xmlOf({ Name: 'a\u0000b\ud800c\uffff' })).children[0]?.text).toBe('a\ufffdb\ufffdc\ufffd');
});

test('there is no manifest for a handler of another VM', () => {
  expect(manifestXml('Acme.Lab.Other', goalState)).toBeNull();
});
