import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { settleCommand } from './install/unit.ts';
import { type FakePortal, fakePortal } from './testing/fake-portal.ts';
import { sha256Of } from './update/trial.ts';
import { agentVersion } from './version.ts';

const newVersion = '9.9.9';
/** Where Node caches the compiled code of the agents that these tests start. */
const compiled = mkdtempSync(join(tmpdir(), 'annex-compiled-'));
let current: string;
let folder: string;
let dir: string;
let program: string;
let portal: FakePortal;
let service: Service;

beforeAll(() => {
  current = readFileSync(agentProgram(), 'utf8');
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

/** Starts the agent of an enrolled machine as a service. */
async function startMachine(): Promise<void> {
  // Always the same path, under which Node finds the compiled code.
  folder = join(compiled, 'machine');
  dir = join(folder, 'agent');
  program = join(folder, 'annex-agent.mjs');
  mkdirSync(folder);
  writeFileSync(program, current);
  chmodSync(program, 0o755);
  portal = await fakePortal();
  await agent('enroll', '--portal', portal.url, '--token', 'token');
  const since = Date.now();
  service = new Service();
  await polledSince(since);
}

async function endMachine(): Promise<void> {
  await service.stop();
  await portal.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  rmSync(pidFile(), { force: true });
}

const environment = { NODE_ENV: 'production', PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled } as const;

function agent(...args: string[]): Promise<{ code: number | null; out: string; error: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args, '--dir', dir],
      { cwd: folder, env: environment },
      (_, out, error) => resolve({ code: child.exitCode, out, error }),
    );
  });
}

/** Starts the agent again whenever it ends, as systemd does with the unit. */
class Service {
  private child: ChildProcess | null = null;
  private isStopped = false;
  private readonly ended = this.run();

  private async run(): Promise<void> {
    const [shell = '', ...before] = settleCommand({ dir, program: [process.execPath, program] });
    while (!this.isStopped) {
      await this.start(shell, before);
      if (!this.isStopped) await this.start(process.execPath, [program, 'run', '--dir', dir]);
    }
  }

  private async start(command: string, args: string[]): Promise<void> {
    const child = spawn(command, args, { cwd: folder, env: environment, stdio: 'ignore' });
    this.child = child;
    writeFileSync(pidFile(), String(child.pid));
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.child?.kill('SIGKILL');
    await this.ended;
  }
}

const update = (...options: string[]) => agent('update', '--restart-command', restartCommand(), ...options);
const pidFile = () => `${folder}.pid`;
/** Returns a command that kills the agent's process; the service then starts the agent again. */
const restartCommand = () => `kill -9 $(cat '${pidFile()}') || true`;

/** Starts an update. `interrupted` sends SIGINT, as Ctrl-C does, and returns the exit code and stderr of the update. */
function startUpdate() {
  const args = ['update', '--dir', dir, '--restart-command', restartCommand()];
  const updating = spawn(process.execPath, [program, ...args], { cwd: folder, env: environment, stdio: 'pipe' });
  const [errors, ended] = [text(updating.stderr), once(updating, 'exit')];
  return {
    async interrupted() {
      updating.kill('SIGINT');
      const [code] = await ended;
      return { code, error: await errors };
    },
  };
}

/** Waits until the installed agent has polled the portal at or after this time. */
async function polledSince(since: number): Promise<void> {
  const poll = (): { sha256?: string; at?: number } => {
    const file = join(dir, 'state/first-poll.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  };
  const hasPolled = () => (poll().at ?? 0) >= since && poll().sha256 === sha256Of(program);
  await vi.waitUntil(hasPolled, { timeout: 60_000 });
}

/** Returns a newer version of the agent's file, which runs `code` first. */
function newer(code = ''): Buffer {
  const [first = '', ...rest] = current.replaceAll(`"${agentVersion}"`, `"${newVersion}"`).split('\n');
  return Buffer.from([first, code, ...rest].join('\n'));
}

const filesNextToTheAgent = () => readdirSync(folder).sort();
const isOld = () => readFileSync(program).equals(Buffer.from(current));

describe('update', { timeout: 180_000 }, () => {
  beforeEach(startMachine, 120_000);
  afterEach(endMachine);

  test('replaces and restarts the agent, and leaves nothing behind', async () => {
    const node = { version: '99.0.0', system: `${process.platform}-${process.arch}` };
    portal.served = { version: newVersion, bytes: newer(), node };
    const ran = await update();
    expect(ran.out).toContain(
      `The portal serves Node 99.0.0; this agent runs with Node ${process.versions.node}, which an update keeps.`,
    );
    expect(ran).toMatchObject({ code: 0, error: '' });
    expect(ran.out).toContain(`The agent ${newVersion} is running and has polled the portal.`);
    expect(readFileSync(program).equals(portal.served.bytes)).toBe(true);
    expect(filesNextToTheAgent()).toEqual(['agent', 'annex-agent.mjs']);
    expect(existsSync(join(dir, 'state/update.json'))).toBe(false);
    await portal.until('the new version', () => portal.described.length > 0);
    expect(portal.described).toEqual([{ name: 'annex-agent', version: newVersion }]);
    portal.served.node = { ...node, version: process.versions.node };
    expect((await update()).out).toBe(`The agent ${newVersion} is up to date.\n`);
  });

  const hangs = {
    what: 'hangs',
    code: "if (process.argv[2] === 'run') await new Promise(() => setInterval(() => {}, 1000));",
  };
  const ends = { what: 'ends', code: "if (process.argv[2] === 'run') process.exit(1);" };

  test.each(runsLong ? [hangs, ends] : [ends])(
    'restores the previous agent if the new agent $what without a poll',
    async ({ code }) => {
      portal.served = { version: newVersion, bytes: newer(code) };
      const since = Date.now();
      const ran = await update('--poll-seconds', '3');
      expect(ran.code).toBe(1);
      expect(ran.error).toContain(`The agent ${newVersion} did not poll the portal in 3 s.`);
      expect(ran.error).toContain(`The agent ${agentVersion} is installed again and was restarted.`);
      expect(isOld()).toBe(true);
      expect(filesNextToTheAgent()).toEqual(['agent', 'annex-agent.mjs']);
      await polledSince(since);
    },
  );

  longTest('restores the previous agent if the update is interrupted with Ctrl-C during the trial', async () => {
    const code = "if (process.argv[2] === 'run') await new Promise(() => setInterval(() => {}, 1000));";
    portal.served = { version: newVersion, bytes: newer(code) };
    const since = Date.now();
    const updating = startUpdate();
    await expect.poll(isOld, { timeout: 60_000 }).toBe(false);
    expect(await updating.interrupted()).toEqual({
      code: 1,
      error: `The update was interrupted. The agent ${agentVersion} is installed again and was restarted. See the journal for the reason.\n`,
    });
    expect(isOld()).toBe(true);
    expect(filesNextToTheAgent()).toEqual(['agent', 'annex-agent.mjs']);
    await polledSince(since);
  });

  longTest('restores the previous agent at the next start if the update itself was killed', async () => {
    portal.served = {
      version: newVersion,
      bytes: newer("if (process.argv[2] === 'run') process.exit(1);"),
    };
    const since = Date.now();
    const args = ['update', '--dir', dir, '--poll-seconds', '2', '--restart-command', restartCommand()];
    const updating = spawn(process.execPath, [program, ...args], { cwd: folder, env: environment, stdio: 'ignore' });
    await expect.poll(isOld, { timeout: 60_000 }).toBe(false);
    const ended = once(updating, 'exit');
    updating.kill('SIGKILL');
    await ended;
    // Restarts the agent, as after a power failure, because the running process may still be the old agent.
    await new Promise((resolve) => execFile('/bin/sh', ['-c', restartCommand()], resolve));
    await expect.poll(isOld, { timeout: 60_000 }).toBe(true);
    await polledSince(since);
  });

  longTest('a second update at the same time is rejected and does not touch the first one', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    portal.served = { version: newVersion, bytes: newer(), gate };
    const first = update();
    await portal.until('a download', () => portal.agentDownloads > 0);
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('Another update is running') });
    open();
    expect(await first).toMatchObject({ code: 0, error: '' });
    expect(portal.agentDownloads).toBe(1);
    expect(readFileSync(program).equals(portal.served.bytes)).toBe(true);
    expect(filesNextToTheAgent()).toEqual(['agent', 'annex-agent.mjs']);
  });
});

describe('an update that changes nothing', { timeout: 180_000 }, () => {
  beforeAll(startMachine, 120_000);
  afterAll(endMachine);
  beforeEach(() => {
    Object.assign(portal, { served: null, agentDownloads: 0 });
  });
  afterEach(() => {
    expect(isOld()).toBe(true);
    expect(filesNextToTheAgent()).toEqual(['agent', 'annex-agent.mjs']);
  });

  test('a damaged file', async () => {
    portal.served = { version: newVersion, bytes: newer(), sha256: '0'.repeat(64) };
    expect(await update()).toMatchObject({
      code: 1,
      error: expect.stringContaining('checksum of the downloaded agent is wrong'),
    });
  });

  test('an agent with a syntax error', async () => {
    portal.served = { version: newVersion, bytes: newer('const = 1;') };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('does not run on this machine') });
  });

  test('an older agent', async () => {
    portal.served = { version: '0.0.1', bytes: newer() };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('is older than this one') });
  });

  longTest('an agent that needs a newer Node', async () => {
    portal.served = { version: newVersion, bytes: newer(), minimumNode: '99.0' };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('Run the installer again') });
  });

  longTest('an agent without a version', async () => {
    const code = "if (process.argv[2] === '--version') await new Promise(() => setInterval(() => {}, 1000));";
    portal.served = { version: newVersion, bytes: newer(code) };
    const ran = await update('--poll-seconds', '3');
    expect(ran).toMatchObject({ code: 1, error: expect.stringContaining('does not run on this machine') });
  });

  longTest('another version in the description than in the file', async () => {
    portal.served = { version: '9.9.8', bytes: newer() };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('says that its version is 9.9.9') });
  });

  test.each([
    [503, 'status 503'],
    [302, 'status 302'],
    [206, 'status 206'],
  ])('a download with status %i', async (status, sentence) => {
    portal.served = { version: newVersion, bytes: newer(), status };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining(sentence) });
  });

  test('a file that is longer than described', async () => {
    const bytes = newer();
    portal.served = { version: newVersion, bytes, size: bytes.length - 1 };
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('longer than') });
  });

  test.each([
    ['a version that is none', { version: 'newest' }],
    ['a version with escape sequences', { version: '9.9.9\u001b[2J' }],
    ['a size of a terabyte', { size: 1e12 }],
    ['a version of Node that is none', { node: { version: '99\nThe agent is up to date.', system: 'linux-x64' } }],
  ])('a description with %s', async (_, lie) => {
    portal.served = { version: newVersion, bytes: newer(), ...lie };
    const ran = await update();
    expect(ran).toMatchObject({ code: 1, error: expect.stringContaining('did not describe the agent that it serves') });
    expect([ran.out, portal.agentDownloads]).toEqual(['', 0]);
  });

  test('a download that is interrupted with Ctrl-C', async () => {
    portal.served = { version: newVersion, bytes: newer(), gate: new Promise(() => {}) };
    const updating = startUpdate();
    await portal.until('a download', () => portal.agentDownloads > 0);
    expect(await updating.interrupted()).toEqual({ code: 1, error: expect.stringContaining('aborted') });
  });

  longTest('a check of the new agent that is interrupted with Ctrl-C', async () => {
    const started = join(folder, 'agent', 'started');
    const code = `if (process.argv[2] === '--version') {
      process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(started)}, '');
      await new Promise(() => setInterval(() => {}, 1000));
    }`;
    portal.served = { version: newVersion, bytes: newer(code) };
    const updating = startUpdate();
    await expect.poll(() => existsSync(started), { timeout: 60_000 }).toBe(true);
    const error = 'The update was interrupted. Nothing was changed.\n';
    expect(await updating.interrupted()).toEqual({ code: 1, error });
  });

  test('a portal that serves no agent', async () => {
    expect(await update()).toMatchObject({ code: 1, error: expect.stringContaining('serves no agent') });
  });
});
