import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { amqpKeys, amqpSettingsOf } from '../channel/amqp-settings.ts';
import { type ConfigurationKey, configuration } from './configuration.ts';
import { addSettings } from './options.ts';
import { askHidden, enrollmentTokenOf } from './tokens.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-settings-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const writeConfiguration = (value: unknown) =>
  writeFileSync(join(dir, 'config.json'), typeof value === 'string' ? value : JSON.stringify(value));

/** Returns the settings of a command for the given arguments, environment and file. */
async function given(
  args: string[],
  environment: Record<string, string> = {},
  keys: Parameters<typeof addSettings>[1] = [
    'heartbeatSeconds',
    'statusSeconds',
    'statusAfterConclusion',
    'proxy',
    'tokenFile',
  ],
): Promise<Record<string, unknown>> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  let options: Record<string, unknown> = {};
  const command = program
    .command('run')
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  addSettings(command, keys, environment);
  command.action((all: Record<string, unknown>) => {
    options = all;
  });
  await program.parseAsync(['run', '--dir', dir, ...args], { from: 'user' });
  return options;
}

test('an option takes precedence over environment, file and default', async () => {
  expect(await given([])).toMatchObject({ heartbeatSeconds: 120, statusSeconds: 300 });
  writeConfiguration({ heartbeatSeconds: 30, statusSeconds: 31 });
  expect(await given([])).toMatchObject({ heartbeatSeconds: 30, statusSeconds: 31 });
  const environment = { ANNEX_AGENT_HEARTBEAT_SECONDS: '20', ANNEX_AGENT_STATUS_SECONDS: '21' };
  expect(await given([], environment)).toMatchObject({ heartbeatSeconds: 20, statusSeconds: 21 });
  expect(await given(['--heartbeat-seconds', '10'], environment)).toMatchObject({
    heartbeatSeconds: 10,
    statusSeconds: 21,
  });
});

test('MU-18 every setting for AMQP can be in config.json', async () => {
  const all = {
    ...{ amqpHost: 'broker', amqpPort: 5_673, amqpTls: 'off', amqpCa: '/ca.pem', amqpVirtualHost: '/plans' },
    ...{ amqpLogin: 'annex', amqpPasswordFile: '/password', amqpInputQueue: 'in', amqpResultExchange: 'out' },
    ...{ amqpResultRoutingKey: 'key', amqpDynamicReply: 'on', amqpHeartbeatSeconds: 7 },
  };
  expect(Object.keys(all)).toEqual(amqpKeys);
  writeConfiguration(all);
  expect(amqpSettingsOf(await given([], {}, amqpKeys))).toEqual({
    ...{ host: 'broker', port: 5_673, tls: false, ca: '/ca.pem', virtualHost: '/plans', login: 'annex' },
    ...{ passwordFile: '/password', inputQueue: 'in', resultExchange: 'out', resultRoutingKey: 'key' },
    ...{ dynamicReply: true, heartbeatSeconds: 7 },
  });
});

test('AZ-S5 statusAfterConclusion is follow unless an option, a variable or the file sets it', async () => {
  expect(await given([])).toMatchObject({ statusAfterConclusion: 'follow' });
  writeConfiguration({ statusAfterConclusion: 'stop' });
  expect(await given([])).toMatchObject({ statusAfterConclusion: 'stop' });
  const environment = { ANNEX_AGENT_STATUS_AFTER_CONCLUSION: 'follow' };
  expect(await given([], environment)).toMatchObject({ statusAfterConclusion: 'follow' });
  expect(await given(['--status-after-conclusion', 'stop'], environment)).toMatchObject({
    statusAfterConclusion: 'stop',
  });
  writeConfiguration({ statusAfterConclusion: 'sometimes' });
  await expect(given([])).rejects.toThrow('/statusAfterConclusion: must be one of follow, stop.');
});

test('variables of other programs count as environment and take precedence over the file', async () => {
  writeConfiguration({ proxy: 'http://file:1', tokenFile: '/file' });
  expect(await given([])).toMatchObject({ proxy: 'http://file:1', tokenFile: '/file' });
  const options = await given([], { HTTPS_PROXY: 'http://variable:1', ANNEX_ENROLLMENT_TOKEN: 'token' });
  expect([options.proxy, options.tokenFile]).toEqual([undefined, undefined]);
});

test('each fault of the file is named by its path, and no value is repeated', async () => {
  writeConfiguration({ heartbeatSeconds: 0, proxy: 'secret word', hearbeatSeconds: 20, statusSeconds: '20' });
  await expect(given([])).rejects.toThrow(
    [
      `${join(dir, 'config.json')} cannot be used:`,
      '  /heartbeatSeconds: must be 1 to 600 seconds.',
      '  /statusSeconds: must be 1 to 600 seconds.',
      '  /proxy: must be an http or https address, for example http://proxy.example.net:3128.',
      '  /hearbeatSeconds: is not a setting. The settings are portal,',
    ].join('\n'),
  );
  for (const [text, sentence] of [
    ['{', 'is not valid JSON'],
    ['[]', '/: must be one JSON object.'],
  ] as const) {
    writeConfiguration(text);
    await expect(given([])).rejects.toThrow(sentence);
  }
});

test.each(['0', '601', 'often', '', '1e9'])('%j seconds are rejected in every source', async (value) => {
  await expect(given(['--heartbeat-seconds', value])).rejects.toThrow('1 to 600 seconds');
  await expect(given([], { ANNEX_AGENT_STATUS_SECONDS: value || 'x' })).rejects.toThrow('1 to 600 seconds');
});

test('the enrollment token: option, file, environment, then a prompt that does not echo', async () => {
  const file = join(dir, 'token');
  writeFileSync(file, 'from file\n');
  const output = new PassThrough();
  const sources = (input = new PassThrough()) => ({ input, output });
  const all = { token: 'from option', tokenFile: file, variable: 'from variable' };
  expect(await enrollmentTokenOf({ ...sources(), ...all })).toBe('from option');
  expect(await enrollmentTokenOf({ ...sources(), ...all, token: undefined })).toBe('from file');
  expect(await enrollmentTokenOf({ ...sources(), variable: 'from variable' })).toBe('from variable');
  const stdin = new PassThrough();
  stdin.end('from stdin\n');
  expect(await enrollmentTokenOf({ ...sources(stdin), tokenFile: '-' })).toBe('from stdin');
  await expect(enrollmentTokenOf(sources())).rejects.toThrow('No enrollment token');
  await expect(enrollmentTokenOf({ ...sources(), tokenFile: join(dir, 'none') })).rejects.toThrow('Check --token-file');
});

test('a prompt does not echo, and cancelling it returns nothing', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer = askHidden('Enrollment token: ', input, output);
  input.write('a secret\r');
  expect(await answer).toBe('a secret');
  expect(output.read().toString()).toBe('Enrollment token: \n');
  const left = askHidden('Enrollment token: ', input, output);
  input.write('half\u0003');
  expect(await left).toBe('');
});

test('docs/agent.md lists every setting with its variable and its name in the file', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/agent.md'), 'utf8');
  const command = new Command();
  addSettings(command, Object.keys(configuration.shape) as ConfigurationKey[], {});
  for (const option of command.options) {
    const inFile = option.attributeName() === 'dir' ? '' : ` \`${option.attributeName()}\``;
    expect(docs).toContain(`| \`${option.long}\` | \`${option.envVar}\` |${inFile} |`);
  }
});
