import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logs } from './commands/logs.ts';
import { rotatingFile } from './folder/rotating-file.ts';
import { openJournal } from './journal.ts';

let dir: string;
let folder: string;
let printed: string[];
const print = (line: string) => printed.push(line);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-journal-'));
  folder = join(dir, 'logs');
  printed = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the log has a limited size: full files are rotated, the oldest is deleted', () => {
  mkdirSync(folder);
  const path = join(folder, 'agent.log');
  const file = rotatingFile(path, 100, 2);
  for (let line = 0; line < 20; line += 1) file.write(`${String(line).padEnd(39)}\n`);
  expect(readdirSync(folder).sort()).toEqual(['agent.log', 'agent.log.1', 'agent.log.2']);
  const numbers = ['agent.log.2', 'agent.log.1', 'agent.log'].flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split(/\s+/).map(Number),
  );
  expect(numbers).toEqual([14, 15, 16, 17, 18, 19]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  rotatingFile(path, 100, 2).write(`${'next'.padEnd(39)}\n`);
  expect(readdirSync(folder)).toHaveLength(3);
  rmSync(folder, { recursive: true });
  expect(() => file.write('nowhere to write to')).not.toThrow();
});

test.each([
  ['plain', [/^\d\d:\d\d:\d\d {2}one$/, /^\d\d:\d\d:\d\d {2}! two$/]],
  ['systemd', [/^<6>one$/, /^<4>two$/]],
  ['json', [/"level":"info".*"n":1,"msg":"one"/, /"level":"warn".*"msg":"two"/, /"msg":"three"/]],
] as const)('printed lines have the format %s', (logFormat, expected) => {
  const journal = openJournal(folder, print, { logFormat });
  journal.info('one', { n: 1 });
  journal.warn('two');
  journal.note('three');
  expect(printed).toHaveLength(expected.length);
  for (const [index, line] of expected.entries()) expect(printed[index]).toMatch(line);
  expect(readFileSync(join(folder, 'agent.log'), 'utf8').trim().split('\n')).toHaveLength(3);
});

test('logs prints the journal; for an extension, its entries and the output of its commands', () => {
  const journal = openJournal(folder, () => {});
  journal.info('Goal state 1: probe 1.0.0.0 enabled.');
  journal.warn('probe, mount: install 1.0.0.0 ended with 17 after 0.1 s.');
  journal.info('mount: removed.');
  const commands = join(folder, 'Acme.Lab.Probe-1.0.0.0', 'commands');
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, 'probe.1.install.2.log'), 'first\nsecond\nthird\n');
  writeFileSync(join(commands, 'mount.1.install.1.log'), 'not of the probe\n');

  logs(undefined, { dir, lines: 2 }, print);
  expect(printed).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}! probe, mount: install/),
    expect.stringMatching(/ {2}mount: removed\.$/),
  ]);
  printed = [];
  logs('probe', { dir, lines: 2 }, print);
  expect(printed).toEqual([
    expect.stringContaining('! probe, mount: install 1.0.0.0 ended with 17'),
    expect.stringMatching(/^\n── install, sequence 1, attempt 2, Acme\.Lab\.Probe-1\.0\.0\.0, \d{4}-/),
    expect.stringContaining('[Earlier lines: 1. To see all: --lines 0'),
    'second\nthird',
  ]);
  printed = [];
  logs('probe', { dir, lines: 0, json: true }, print);
  expect(JSON.parse(printed[0] ?? '')).toMatchObject({
    journal: [{ level: 'warn' }],
    outputs: [{ command: 'install', sequenceNumber: 1, attempt: 2, output: 'first\nsecond\nthird' }],
  });
  expect(() => logs('none', { dir, lines: 0 }, print)).toThrow('has no entries about an extension none');
});
