import { execFile, spawnSync } from 'node:child_process';
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
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { selfSigned } from '#agent/testing/tls.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { type InstallGateway, openInstallGateway } from '#server/testing/install-gateway.ts';
import { longTest } from '#server/testing/long.ts';
import { hasProgram } from '#server/testing/programs.ts';
import { runsLong } from '#server/testing/runs-long.ts';

/** A gateway from which machines download a small program that runs this machine's Node. */
let gateway: InstallGateway;
let small: string;
/** A gateway from which machines download the Node that runs it. */
let whole: InstallGateway;
let folder: string;
let dir: string;

beforeAll(async () => {
  small = mkdtempSync(path.join(tmpdir(), 'annex-small-node-'));
  writeFileSync(path.join(small, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
  gateway = await openInstallGateway({ nodeFile: path.join(small, 'node') });
  whole = await openInstallGateway();
});
afterAll(async () => {
  await Promise.all([gateway.close(), whole.close()]);
  rmSync(small, { recursive: true });
});
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'annex-install-'));
  dir = path.join(folder, 'machine');
});
afterEach(() => {
  gateway.damaged = null;
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  code: number;
  out: string;
  error: string;
}

interface Run {
  shell?: string;
  token?: string | null;
  env?: Record<string, string>;
  from?: InstallGateway;
}

/** Runs the command that the pages show, with options after it. */
function install(options: string[], { shell = 'sh', token = null, env = {}, from = gateway }: Run = {}): Promise<Ran> {
  const command = `curl -fsS ${from.url}/install | ${shell} -s -- ${options.map((word) => `'${word}'`).join(' ')}`;
  return run('sh', ['-c', command], { ...(token === null ? {} : { ANNEX_ENROLLMENT_TOKEN: token }), ...env });
}

function run(program: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { cwd: folder, env: { NODE_ENV: 'production', PATH: process.env.PATH, ...env } },
      (_, out, error) => resolve({ code: child.exitCode ?? -1, out, error }),
    );
  });
}

async function newToken(): Promise<string> {
  return (await registerVm(gateway.ctx, { name: `vm-${Math.random()}` })).enrollmentToken;
}

/** Returns the content of all files below a folder, except the Node binary. */
function contentsOf(at: string): string {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'node')
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

const names = runsLong ? ['sh', 'dash', 'bash', 'busybox sh'] : ['sh'];
const shells = names.filter((shell) => hasProgram(shell.split(' ')[0] ?? ''));

describe.each(shells)('in %s', (shell) => {
  test('one command installs Node and the agent, enrolls the machine, and keeps no token', {
    timeout: 180_000,
  }, async () => {
    const token = await newToken();
    const ran = await install(['--no-service', '--dir', dir], { shell, token });
    expect(ran).toMatchObject({ code: 0, error: '' });
    const command = `${dir}/programs/node ${dir}/programs/annex-agent.mjs run --dir ${dir}`;
    expect(ran.out).toContain(command);
    expect(ran.out).toContain(`Log:    ${dir}/logs/agent.log`);
    expect(ran.out + contentsOf(dir)).not.toContain(token);
    expect(readdirSync(path.join(dir, 'programs')).sort()).toEqual(['annex-agent.mjs', 'node']);
    const status = await run(`${dir}/programs/node`, [`${dir}/programs/annex-agent.mjs`, 'status', '--dir', dir]);
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining(gateway.url) });
  });
});

longTest("the gateway's own Node is installed and runs the agent", { timeout: 180_000 }, async () => {
  const { enrollmentToken: token } = await registerVm(whole.ctx, { name: 'whole' });
  expect(await install(['--no-service', '--dir', dir], { token, from: whole })).toMatchObject({ code: 0, error: '' });
  const node = path.join(dir, 'programs/node');
  expect(readFileSync(node).equals(readFileSync(process.execPath))).toBe(true);
  const status = await run(node, [`${dir}/programs/annex-agent.mjs`, 'status', '--dir', dir]);
  expect(status).toMatchObject({ code: 0, out: expect.stringContaining(whole.url) });
});

longTest(
  'a second run updates the agent, keeps the identity, and does not download Node again',
  {
    timeout: 180_000,
  },
  async () => {
    await install(['--no-service', '--dir', dir], { token: await newToken() });
    const identity = readFileSync(path.join(dir, 'agent.json'), 'utf8');
    writeFileSync(path.join(dir, 'programs/annex-agent.mjs'), 'an older agent');
    const again = await install(['--no-service', '--dir', dir]);
    expect(again).toMatchObject({ code: 0, error: '' });
    expect(again.out).not.toContain('Downloading Node');
    expect(readFileSync(path.join(dir, 'agent.json'), 'utf8')).toBe(identity);
    const version = await run(`${dir}/programs/node`, [`${dir}/programs/annex-agent.mjs`, '--version']);
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  },
);

longTest(
  'a folder with characters that mean something to the shell is installed, and its command can be pasted',
  {
    timeout: 180_000,
  },
  async () => {
    dir = path.join(folder, 'it is $(touch pwned)`touch pwned`; touch pwned');
    const ran = await install(['--no-service', '--dir', dir], { token: await newToken() });
    expect(ran).toMatchObject({ code: 0, error: '' });
    const command = ran.out.split('\n').find((line) => line.endsWith(`'${dir}'`)) ?? '';
    expect(await run('sh', ['-c', command.replace(' run --dir ', ' status --dir ')])).toMatchObject({
      code: 0,
      out: expect.stringContaining(gateway.url),
    });
    expect(readdirSync(folder)).toEqual([path.basename(dir)]);
  },
);

test.each([
  '$(touch pwned)',
  '`touch pwned`',
  "';touch pwned;'",
  'annex_enroll_$(touch\tpwned)aaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '-rf',
])('the token %s is rejected and not run', async (token) => {
  const file = path.join(folder, 'token');
  writeFileSync(file, token);
  const ways = [
    install(['--no-service', '--dir', dir], { token }),
    install(['--no-service', '--dir', dir, '--token-file', file]),
  ];
  for (const ran of await Promise.all(ways)) {
    expect(ran).toMatchObject({ code: 1, error: expect.stringContaining('The enrollment token is incomplete.') });
  }
  expect(readdirSync(folder)).toEqual(['token']);
});

longTest(
  'a token for an enrolled machine is not used, and the output says how to enroll again',
  {
    timeout: 180_000,
  },
  async () => {
    await install(['--no-service', '--dir', dir], { token: await newToken() });
    const identity = readFileSync(path.join(dir, 'agent.json'), 'utf8');
    const token = await newToken();
    const second = await install(['--no-service', '--dir', dir], { token });
    expect(second.out).toContain('already enrolled, so the token was not used. To enroll again, add --again.');
    expect(readFileSync(path.join(dir, 'agent.json'), 'utf8')).toBe(identity);
    expect(await install(['--no-service', '--dir', dir, '--again'], { token })).toMatchObject({ code: 0, error: '' });
    expect(readFileSync(path.join(dir, 'agent.json'), 'utf8')).not.toBe(identity);
  },
);

test.each([['agent'], ['node']])('a damaged file (%s) changes nothing', { timeout: 180_000 }, async (name) => {
  gateway.damaged = `/install/${name}-`;
  const ran = await install(['--no-service', '--dir', dir], { token: await newToken() });
  expect(ran.code).toBe(1);
  expect(ran.error).toMatch(new RegExp(`The checksum of ${name}-.* is wrong.*Nothing was changed`));
  expect(readdirSync(folder)).toEqual([]);
});

longTest('a damaged update keeps the installed agent', { timeout: 180_000 }, async () => {
  await install(['--no-service', '--dir', dir], { token: await newToken() });
  const before = readFileSync(path.join(dir, 'programs/annex-agent.mjs'));
  gateway.damaged = '/install/agent-';
  expect((await install(['--no-service', '--dir', dir])).code).toBe(1);
  expect(readFileSync(path.join(dir, 'programs/annex-agent.mjs')).equals(before)).toBe(true);
  expect(readdirSync(path.join(dir, 'programs')).sort()).toEqual(['annex-agent.mjs', 'node']);
});

test('--dry-run says what the installer would do and changes nothing', async () => {
  const ran = await install(['--no-service', '--dry-run', '--dir', dir], { token: await newToken() });
  expect(ran).toMatchObject({ code: 0, error: '' });
  expect(ran.out).toContain(`enroll this machine at ${gateway.url}, with the agent's folder ${dir}`);
  expect(readdirSync(folder)).toEqual([]);
});

test('everything that is missing is listed in one run, and nothing is changed', async () => {
  const programs = path.join(folder, 'programs');
  mkdirSync(programs);
  // Simulates a machine with another architecture, without sha256sum and node.
  for (const name of ['sh', 'cat', 'curl', 'df', 'tail', 'tr', 'cut', 'dirname', 'id'].filter(hasProgram)) {
    const at = (await run('sh', ['-c', `command -v ${name}`])).out.trim();
    writeFileSync(path.join(programs, name), `#!/bin/sh\nexec ${at} "$@"\n`);
  }
  writeFileSync(path.join(programs, 'uname'), '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n');
  for (const name of readdirSync(programs)) chmodSync(path.join(programs, name), 0o755);
  const script = path.join(folder, 'install.sh');
  writeFileSync(script, await (await fetch(`${gateway.url}/install`)).text());
  const ran = await run('/bin/sh', [script, '--dir', dir, '--programs', dir, '--gateway', 'http://localhost:1'], {
    PATH: programs,
    ANNEX_ENROLLMENT_TOKEN: 'annex_enroll_cut-off',
  });
  expect(ran.code).toBe(1);
  expect(ran.out).toBe('');
  for (const sentence of [
    'sha256sum is not installed. It is in the package coreutils.',
    'The agent needs Node 24.5 or later for linux-riscv64. The gateway has Node',
    'systemd is not running on this machine. Use --foreground or --no-service',
    'The enrollment token is incomplete.',
    'No gateway responds at http://localhost:1, which is an address of this machine only. Set ANNEX_GATEWAY_URL',
    'Nothing was changed. Correct the problems above (5)',
  ]) {
    expect(ran.error).toContain(sentence);
  }
  expect(existsSync(dir)).toBe(false);
});

test('without a token, the installer says where to get one', async () => {
  const ran = await install(['--no-service', '--dir', dir]);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expect(ran.error).toContain('There is no enrollment token. Create one on the VM');
});

longTest('a used token fails with the portal’s message', { timeout: 180_000 }, async () => {
  const token = await newToken();
  await install(['--no-service', '--dir', path.join(folder, 'other')], { token });
  const ran = await install(['--no-service', '--dir', dir], { token });
  expect(ran.code).toBe(1);
  expect(ran.error).toMatch(/token.*\n.*The agent is installed, but the machine is not enrolled/i);
});

longTest(
  '--ca trusts the private authority of a gateway, and the agent keeps trusting it',
  {
    timeout: 180_000,
  },
  async () => {
    const keys = path.join(folder, 'keys');
    mkdirSync(keys);
    const { file } = selfSigned(keys);
    const secure = await openInstallGateway(
      { nodeFile: path.join(small, 'node') },
      { certFile: file, keyFile: path.join(keys, 'tls.key') },
    );
    try {
      const { enrollmentToken } = await registerVm(secure.ctx, { name: 'private' });
      const env = { ANNEX_ENROLLMENT_TOKEN: enrollmentToken };
      const command = (options: string) =>
        `curl -fsS --cacert ${file} ${secure.url}/install | sh -s -- --no-service --dir ${dir} ${options}`;
      const without = await run('sh', ['-c', command('')], env);
      expect(without.code).toBe(1);
      expect(without.error).toContain('if its authority is private, pass --ca');
      const missing = await run('sh', ['-c', command('--ca /nowhere.pem')], env);
      expect(missing.error).toContain('/nowhere.pem is not a readable PEM file. Check --ca.');
      expect(existsSync(dir)).toBe(false);

      expect(await run('sh', ['-c', command(`--ca ${file}`)], env)).toMatchObject({ code: 0, error: '' });
      const [own, before] = [`${dir}/ca.pem`, readFileSync(`${dir}/ca.pem`, 'utf8')];
      expect(await run('sh', ['-c', command(`--ca ${own}`)])).toMatchObject({ code: 0, error: '' });
      expect(readFileSync(own, 'utf8')).toBe(before);
      rmSync(keys, { recursive: true });
      const once = [`${dir}/programs/annex-agent.mjs`, 'once', '--dir', dir];
      expect(await run(`${dir}/programs/node`, once)).toMatchObject({ code: 0 });
    } finally {
      await secure.close();
    }
  },
);

if (hasProgram('shellcheck'))
  test('shellcheck finds nothing in the installer', async () => {
    const script = path.join(folder, 'install.sh');
    writeFileSync(script, await (await fetch(`${gateway.url}/install`)).text());
    expect(await run('shellcheck', ['--shell', 'sh', script])).toEqual({ code: 0, out: '', error: '' });
  });

/** Runs a script as root with private empty system folders and a systemctl that records its calls. */
function runWithOwnSystem(script: string, token: string): Promise<Ran> {
  const calls = path.join(folder, 'systemctl.log');
  const programs = path.join(folder, 'bin');
  mkdirSync(programs);
  writeFileSync(path.join(programs, 'systemctl'), `#!/bin/sh\necho "$*" >>'${calls}'\n`);
  chmodSync(path.join(programs, 'systemctl'), 0o755);
  const own = ['/opt', '/usr/local/bin', '/etc/systemd/system', '/var/lib', '/run'];
  const lines = [
    ...own.map((at) => `mkdir -p ${at}; mount -t tmpfs tmpfs ${at} || exit 9`),
    'mkdir -p /run/systemd/system',
    script,
  ];
  return run('unshare', ['--mount', 'sh', '-c', lines.join('\n')], {
    PATH: `${programs}:${process.env.PATH}:/usr/local/bin`,
    ANNEX_ENROLLMENT_TOKEN: token,
  });
}

// Only root can mount private system folders for a process.
if (spawnSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /run']).status === 0) {
  longTest(
    'as root, the installer writes the unit and the command, and starts the service',
    {
      timeout: 180_000,
    },
    async () => {
      const { enrollmentToken } = await registerVm(whole.ctx, { name: 'with-a-service' });
      const shown = 'cat /etc/systemd/system/annex-agent.service; annex-agent status --dir /var/lib/annex-agent';
      const ran = await runWithOwnSystem(`curl -fsS ${whole.url}/install | sh || exit; ${shown}`, enrollmentToken);
      expect(ran).toMatchObject({ code: 0, error: '' });
      expect(ran.out).toContain('Log:    journalctl -u annex-agent, or /var/lib/annex-agent/logs/agent.log');
      expect(ran.out).toContain('ExecStart="/opt/annex-agent/node" "/opt/annex-agent/annex-agent.mjs" "run"');
      expect(ran.out).toContain(`Portal        ${whole.url}`);
      const calls = readFileSync(path.join(folder, 'systemctl.log'), 'utf8').trim().split('\n');
      expect(calls.slice(-3)).toEqual(['daemon-reload', 'enable --quiet annex-agent', 'restart annex-agent']);
    },
  );

  longTest(
    'the command also works in a folder whose name means something to the shell',
    {
      timeout: 180_000,
    },
    async () => {
      const installer = `curl -fsS ${gateway.url}/install | sh -s -- --only-programs --programs '/opt/a $(pwned)' || exit`;
      const ran = await runWithOwnSystem(`${installer}; annex-agent --version; ls /opt`, '');
      expect(ran).toMatchObject({ code: 0, error: '' });
      expect(ran.out).toMatch(/is installed\.\n\d+\.\d+\.\d+\na \$\(pwned\)\n$/);
    },
  );

  longTest('--only-programs installs the command and enrolls nothing', { timeout: 180_000 }, async () => {
    const installer = `curl -fsS ${gateway.url}/install | sh -s -- --only-programs || exit`;
    const ran = await runWithOwnSystem(`${installer}; annex-agent --version; ls /var/lib /etc/systemd/system`, '');
    expect(ran).toMatchObject({ code: 0, error: '' });
    expect(ran.out).toMatch(/The command annex-agent \S+ is installed\.\n\d+\.\d+\.\d+\n/);
    expect(ran.out).not.toContain('annex-agent.service');
  });
}
