import { spawn } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { discard } from './folder/write-file.ts';
import { archiveLogs } from './report/log-archives.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { textsOfZip } from './testing/read-zip.ts';
import { readDocument } from './watch/read-document.ts';

// These tests attack the agent as a handler's service could, running as any user: through the folders that the service
// may write to.
const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const secret = 'root-only-words';

let machine: TestMachine;
/** A folder outside the handler's folders. No service may read or change it. */
let vault: string;
let secretFile: string;
let logs: string;
let logFolder: string;
let root: string;

beforeEach(async () => {
  machine = await testMachine();
  vault = join(machine.dir, 'vault');
  mkdirSync(vault, { mode: 0o700 });
  secretFile = join(vault, 'shadow');
  writeFileSync(secretFile, secret);
  logs = join(machine.dir, 'logs');
  logFolder = join(logs, 'Acme.Test.Echo-1.0.0.0');
  root = join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0');
});
afterEach(() => machine.close());

/** Packs the log folder. `act` runs between listing and reading. */
async function archived(act: () => void = () => {}): Promise<string> {
  const zip = join(machine.dir, 'logs.zip');
  const packed = archiveLogs(logs, echo.handler, zip);
  act();
  await packed;
  return statSync(zip).size === 0 ? '' : JSON.stringify([...(await textsOfZip(readFileSync(zip)))]);
}

describe('a log archive', () => {
  beforeEach(() => {
    mkdirSync(join(logFolder, 'inner'), { recursive: true });
    writeFileSync(join(logFolder, 'own.log'), 'own words');
    writeFileSync(join(logFolder, 'inner', 'shadow'), 'inner words');
  });

  test('contains what was listed, not a link that replaced a log', async () => {
    const texts = await archived(() => {
      rmSync(join(logFolder, 'own.log'));
      symlinkSync(secretFile, join(logFolder, 'own.log'));
    });
    expect(texts).not.toContain(secret);
    expect(texts).toContain('inner words');
    expect(texts).toContain('could not be read');
  });

  test('contains what was listed, not the target of a link that replaced a folder', async () => {
    const texts = await archived(() => {
      renameSync(join(logFolder, 'inner'), join(logFolder, 'aside'));
      symlinkSync(vault, join(logFolder, 'inner'));
    });
    expect(texts).not.toContain(secret);
    expect(texts).toContain('own words');
  });

  test('contains what was listed, not a hard link that replaced a log', async () => {
    const texts = await archived(() => {
      rmSync(join(logFolder, 'own.log'));
      linkSync(secretFile, join(logFolder, 'own.log'));
    });
    expect(texts).not.toContain(secret);
  });

  test('omits hard links and reports them', async () => {
    linkSync(secretFile, join(logFolder, 'hard.log'));
    const texts = await archived();
    expect(texts).not.toContain(secret);
    expect(texts).toContain('own words');
    expect(texts).toContain('hard.log (it has other names)');
  });

  test('keeps a name that looks like a path within the archive', async () => {
    writeFileSync(join(logFolder, '..\\..\\up.log'), 'odd words');
    expect(await archived()).toContain('odd words');
  });

  test('never contains a foreign file while a service swaps a log and its folder for links', async () => {
    writeFileSync(join(vault, 'own.log'), secret);
    const swapper = await swapForever(`
      const { renameSync, symlinkSync, rmSync, mkdirSync, writeFileSync } = require('node:fs');
      const [folder, vault] = process.argv.slice(1);
      const log = folder + '/own.log', inner = folder + '/inner';
      for (;;) {
        symlinkSync(vault + '/shadow', log + '.next'); renameSync(log + '.next', log);
        rmSync(inner, { recursive: true, force: true }); symlinkSync(vault, inner);
        writeFileSync(log + '.next', 'own words'); renameSync(log + '.next', log);
        rmSync(inner); mkdirSync(inner); writeFileSync(inner + '/shadow', 'inner words');
      }`);
    try {
      for (let round = 0; round < 150; round += 1) expect(await archived()).not.toContain(secret);
    } finally {
      await swapper.end();
    }
  });
});

describe('a status file', () => {
  const status = { version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } };
  const foreign = JSON.stringify([{ ...status, status: { status: 'error', formattedMessage: secret } }]);
  const own = JSON.stringify([status]);
  const path = () => join(root, 'status', '1.status');

  beforeEach(() => {
    mkdirSync(join(root, 'status'), { recursive: true });
    writeFileSync(secretFile, foreign);
  });

  test.each<[string, () => void, RegExp]>([
    ['a link', () => symlinkSync(secretFile, path()), /is not a plain file/],
    ['a hard link', () => linkSync(secretFile, path()), /other names/],
    [
      'a file in a folder that is a link',
      () => {
        writeFileSync(join(vault, '1.status'), foreign);
        rmSync(join(root, 'status'), { recursive: true });
        symlinkSync(vault, join(root, 'status'));
      },
      /status is not a folder/,
    ],
  ])('that is %s is not read', async (_, act, why) => {
    act();
    await expect(readDocument(path())).rejects.toThrow(why);
  });

  test('is never read from a foreign file while a service swaps it for a link', async () => {
    writeFileSync(path(), own);
    const swapper = await swapForever(
      `
      const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
      const [path, secret, own] = process.argv.slice(1);
      for (let round = 0; ; round += 1) {
        symlinkSync(secret, path + '.next'); renameSync(path + '.next', path);
        writeFileSync(path + '.next', own); renameSync(path + '.next', path);
        // Every 20 rounds, the service leaves its own file in place for 20 ms, so that it can be read.
        if (round % 20 === 0) for (const end = Date.now() + 20; Date.now() < end; );
      }`,
      [path(), secretFile, own],
    );
    try {
      let good = 0;
      for (let round = 0; round < 300; round += 1) {
        const read = await readDocument(path(), AbortSignal.abort()).catch(() => null);
        if (read !== null) good += 1;
        expect(read?.text ?? '').not.toContain(secret);
      }
      expect(good).toBeGreaterThan(0);
    } finally {
      await swapper.end();
    }
  });
});

describe('writing into shared folders', () => {
  const enable = () =>
    machine.portal.reports.flatMap(({ handlers }) => handlers).find(({ state }) => state === 'enabled');
  /** Runs an install with a script that prepares the attack, followed by an enable. */
  async function runWith(install: string): Promise<void> {
    await machine.addHandler({ ...echo, script: `echo "$1 said"; [ "$1" != install ] || { ${install}; }` });
    machine.portal.setGoal([{ ...echo, name: 'echo' }]);
    await machine.start();
    await machine.portal.until('enabled', enable);
  }

  test('replaces a link that has the name of an output, and does not change its target', async () => {
    await runWith(`ln -s '${secretFile}' '${join(logFolder, 'commands', 'echo.1.enable.1.log')}'`);
    expect(readFileSync(secretFile, 'utf8')).toBe(secret);
    expect(readFileSync(join(logFolder, 'commands', 'echo.1.enable.1.log'), 'utf8')).toBe('enable said\n');
  });

  test('replaces a hard link that has the name of an output, and does not change the other file', async () => {
    await runWith(`ln '${secretFile}' '${join(logFolder, 'commands', 'echo.1.enable.1.log')}'`);
    expect(readFileSync(secretFile, 'utf8')).toBe(secret);
  });

  test('replaces a link that has the name of the outputs folder, and touches nothing behind it', async () => {
    for (let number = 0; number < 120; number += 1) writeFileSync(join(vault, `file-${number}`), secret);
    const before = readdirSync(vault);
    await runWith(`mv '${join(logFolder, 'commands')}' away; ln -s '${vault}' '${join(logFolder, 'commands')}'`);
    expect(readdirSync(vault)).toEqual(before);
    expect(readFileSync(join(logFolder, 'commands', 'echo.1.enable.1.log'), 'utf8')).toBe('enable said\n');
  });

  test('changes no foreign file through links next to settings and HandlerEnvironment.json', async () => {
    await runWith(
      `ln -s '${secretFile}' config/2.settings.next; ln -s '${secretFile}' config/2.settings; ln -s '${secretFile}' HandlerEnvironment.json.next`,
    );
    machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
    await machine.portal.until('the second', () => enable() && existsSync(join(root, 'config', '2.settings')));
    await machine.portal.until('enabled again', () =>
      machine.portal.reports
        .flatMap(({ handlers }) => handlers)
        .find(({ state, sequenceNumber }) => state === 'enabled' && sequenceNumber === 2),
    );
    expect(readFileSync(secretFile, 'utf8')).toBe(secret);
    expect(readFileSync(join(root, 'config', '2.settings'), 'utf8')).toContain('handlerSettings');
  });

  test('fails the step if the config folder is a link, and writes nothing behind it', async () => {
    await runWith(`echo`);
    rmSync(join(root, 'config'), { recursive: true });
    symlinkSync(vault, join(root, 'config'));
    machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
    const failed = await machine.portal.until('failed', () =>
      machine.portal.reports.flatMap(({ handlers }) => handlers).find(({ state }) => state === 'failed'),
    );
    expect(failed.output).toContain('config is not a folder. The agent follows no links there');
    expect(readdirSync(vault)).toEqual(['shadow']);
  });

  longTest('does not send an output that a link replaced', async () => {
    await machine.addHandler({ ...echo, script: 'echo "$1 said"' });
    machine.portal.refuse = { status: 503, code: 'database_away' };
    machine.portal.setGoal([{ ...echo, name: 'echo' }]);
    machine.portal.refuse = null;
    await machine.start();
    await machine.portal.until('enabled', enable);
    await machine.stop();
    const file = join(logFolder, 'commands', 'echo.1.enable.1.log');
    writeFileSync(
      join(machine.dir, 'uploads', '000000000099.json'),
      JSON.stringify({ extension: 'echo', command: 'enable', attempt: 9, sequence: 1, file }),
    );
    rmSync(file);
    symlinkSync(secretFile, file);
    await machine.start();
    await machine.until('an empty queue', () => readdirSync(join(machine.dir, 'uploads')).length === 0);
    expect([...machine.portal.logs.values()].map(String).join()).not.toContain(secret);
  });
});

describe('removing a handler', () => {
  longTest('follows no link that a service swaps for a folder, and deletes everything', async () => {
    for (let number = 0; number < 50; number += 1) writeFileSync(join(vault, `file-${number}`), secret);
    const tree = join(machine.dir, 'incoming', 'tree.away');
    const before = readdirSync(vault);
    for (let round = 0; round < 30; round += 1) {
      mkdirSync(join(tree, 'inner'), { recursive: true });
      for (let number = 0; number < 50; number += 1) writeFileSync(join(tree, 'inner', `file-${number}`), '');
      const swapper = await swapForever(
        `
        const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
        const [tree, vault] = process.argv.slice(1);
        for (;;) try {
          renameSync(tree + '/inner', tree + '/aside'); symlinkSync(vault, tree + '/inner');
          unlinkSync(tree + '/inner'); renameSync(tree + '/aside', tree + '/inner');
        } catch { try { renameSync(tree + '/aside', tree + '/inner') } catch {} }`,
        [tree, vault],
      );
      try {
        discard(tree);
      } finally {
        await swapper.end();
      }
      discard(tree);
      expect(existsSync(tree)).toBe(false);
      expect(readdirSync(vault)).toEqual(before);
    }
  });

  test('deletes a tree that is deeper than the longest path', async () => {
    const tree = join(machine.dir, 'incoming', 'tree.away');
    mkdirSync(tree, { recursive: true });
    const deep = spawn(
      process.execPath,
      [
        '-e',
        `for (let n = 0; n < 1000; n++) { require('node:fs').mkdirSync('deep'); process.chdir('deep') }
         require('node:fs').writeFileSync('file', '')`,
      ],
      { cwd: tree },
    );
    await new Promise((resolve) => deep.on('exit', resolve));
    discard(tree);
    expect(existsSync(tree)).toBe(false);
  });
});

/** Runs a script that loops forever, until `end` kills it. */
async function swapForever(program: string, words = [logFolder, vault]): Promise<{ end(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', `process.stdout.write('.');${program}`, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return {
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
