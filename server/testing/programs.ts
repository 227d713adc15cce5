import { accessSync, constants, existsSync, globSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { debianRelease, unpackDebianPackages } from './debian-packages.ts';

interface TestProgram {
  name: string;
  package: string;
  /** What is tested with the program. */
  shows: string;
  /**
   * Test files that are skipped without the program. Absent if only individual tests need the program; these tests
   * check for it themselves.
   */
  tests?: string[];
  /**
   * Environment variables for files that the program would otherwise look for in the system. Their values are paths
   * below the unpacked packages.
   */
  environment?: Record<string, string>;
}

/** The programs that tests start and that neither npm nor Debian's base system provides. */
export const testPrograms: TestProgram[] = [
  {
    name: 'openssl',
    package: 'openssl',
    shows: 'compatibility with keys, certificates and sealed settings of other programs',
    tests: [
      'agent/clinic/clinic.test.ts',
      'agent/clinic/try-plan.test.ts',
      'agent/doctor/doctor.test.ts',
      'agent/execution-order.test.ts',
      'agent/execution/secret-parameters.test.ts',
      'agent/field-handlers.test.ts',
      'agent/identity/open-sealed.test.ts',
      'agent/misbehaving.test.ts',
      'agent/outputs.test.ts',
      'agent/portal/route.test.ts',
      'agent/secrets.test.ts',
      'agent/units.test.ts',
      'e2e/secrets.spec.ts',
      'samples/samples.test.ts',
      'server/agent-api/another-operator.test.ts',
      'server/agent-api/routes/certificate/route.test.ts',
      'server/agent-files/bundle-agent.test.ts',
      'server/agent-files/installer.test.ts',
      'server/domain/enrollment/withheld-secrets.test.ts',
      'server/domain/executions/secret-parameters.test.ts',
      'server/domain/goal-states/change-protected-settings.test.ts',
      'server/domain/goal-states/custody.test.ts',
      'server/domain/goal-states/set-extension.test.ts',
      'server/domain/services/runs/agent-calls.test.ts',
      'server/platform/cms.test.ts',
      'server/platform/pkcs12.test.ts',
      'server/wire/doors.test.ts',
    ],
    environment: { OPENSSL_CONF: 'etc/ssl/openssl.cnf' },
  },
  {
    name: 'curl',
    package: 'curl',
    shows: 'the first steps of the README and the installer of the agent',
    tests: ['e2e/first-machine.spec.ts', 'server/agent-files/installer.test.ts'],
  },
  { name: 'busybox', package: 'busybox', shows: 'the installer of the agent in the shell of small systems' },
  { name: 'shellcheck', package: 'shellcheck', shows: 'the style of the installer of the agent' },
  { name: 'ip', package: 'iproute2', shows: 'the forwarder in a network namespace' },
  { name: 'nats-server', package: 'nats-server', shows: 'wake-ups over NATS' },
  {
    name: 'rabbitmq-server',
    package: 'rabbitmq-server',
    shows: 'execution plans over AMQP',
    tests: ['server/conductor/conductor.test.ts'],
  },
  {
    name: 'python3',
    package: 'python3',
    shows: 'execution plans, the Azure Linux agent, and handlers written in Python',
    tests: [
      'agent/clinic/try-plan.test.ts',
      'agent/execution-order.test.ts',
      'agent/execution/api/api.test.ts',
      'agent/execution/body/body.test.ts',
      'agent/execution/executors/executors.test.ts',
      'agent/execution/secret-parameters.test.ts',
      'agent/execution/executors/other-platforms.test.ts',
      'agent/execution-files.test.ts',
      'agent/execution/files/plan-files.test.ts',
      'agent/executions.test.ts',
      'e2e/log.spec.ts',
      'e2e/runbooks.spec.ts',
      'server/domain/runbooks/lint-body.test.ts',
    ],
    environment: { PYTHONHOME: 'usr' },
  },
  {
    name: 'twist3',
    package: 'python3-twisted',
    shows: 'the commands of hooks with clients and servers that are written with Twisted',
    tests: ['agent/unit-tools/twisted.test.ts'],
    environment: { PYTHONPATH: 'usr/lib/python3/dist-packages' },
  },
];

/** Program that measures the baseline for reports in `npm run bench`. */
export const pgbench: TestProgram = {
  name: 'pgbench',
  package: 'postgresql-contrib',
  shows: 'reports beside pgbench',
};

/** A program that is not on the machine and could not be fetched from Debian, and why. */
export interface MissingProgram extends Pick<TestProgram, 'name' | 'shows' | 'tests'> {
  reason: string;
}

/** Returns a sentence that says what was not tested because the program is missing. */
export function noteOf({ name, shows, tests = [], reason }: MissingProgram): string {
  const files = tests.length === 0 ? '' : ` Left out: ${tests.join(', ')}.`;
  return `Not tested: ${shows}. ${name} is missing and could not be fetched: ${reason}.${files}`;
}

/** Returns the test files that cannot run on this machine, after trying to fetch the missing programs. */
export async function testsLeftOut(): Promise<string[]> {
  return (await provideTestPrograms()).flatMap(({ tests = [] }) => tests);
}

const cache = path.resolve(process.env.DATA_DIR ?? path.join(import.meta.dirname, '../../.data'), 'test-programs');

/** Folder into which programs from Debian are unpacked, as if it were `/`. It may not exist. */
export const programRoot = path.join(cache, 'root');

/** Folder with launchers for the unpacked programs. It is added to PATH. */
export const programBin = path.join(cache, 'bin');

/**
 * Adds programs, by default all that tests start, to this process's PATH. Programs that the machine lacks are fetched
 * from Debian once and unpacked below the data folder, without installing them. Returns the programs that are still
 * missing.
 */
export async function provideTestPrograms(programs = testPrograms): Promise<MissingProgram[]> {
  addToPath();
  const absent = programs.filter(({ name }) => !hasProgram(name));
  if (absent.length === 0) return [];
  const fetchedBefore = [...testPrograms, pgbench].filter(({ name }) => existsSync(path.join(programBin, name)));
  const reason = await fetchPrograms([...absent, ...fetchedBefore]).then(
    () => 'its package has no such program',
    (error: unknown) => (error as Error).message.split('\n')[0] ?? '',
  );
  return absent.filter(({ name }) => !hasProgram(name)).map((program) => ({ ...program, reason }));
}

/** Whether a program is on PATH. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => isExecutable(path.join(folder, name)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Adds the folder to the end of PATH, so that the machine's own programs take precedence. */
function addToPath(): void {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  if (!folders.includes(programBin)) process.env.PATH = [...folders, programBin].join(path.delimiter);
}

async function fetchPrograms(programs: TestProgram[]): Promise<void> {
  const suite = await debianRelease();
  if (suite === null) throw new Error('this machine is not Debian');
  await mkdir(path.dirname(cache), { recursive: true });
  const fresh = await mkdtemp(`${cache}.`);
  try {
    const root = path.join(fresh, 'root');
    const packages = programs.map((program) => program.package);
    await unpackDebianPackages(root, { suite, packages, withDependencies: true });
    await mkdir(path.join(fresh, 'bin'));
    for (const program of programs) await writeLauncher(fresh, program);
    await rm(cache, { recursive: true, force: true });
    await rename(fresh, cache);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Writes a script that starts an unpacked program with its own libraries. */
async function writeLauncher(fresh: string, { name, environment = {} }: TestProgram): Promise<void> {
  const [found] = globSync([`usr/lib/postgresql/*/bin/${name}`, `usr/{bin,sbin}/${name}`], {
    cwd: path.join(fresh, 'root'),
  });
  if (found === undefined) return;
  const libraries = ['usr/lib', ...multiarch()].map((folder) => path.join(programRoot, folder)).join(':');
  const assignments = Object.entries(environment).map(([key, value]) => `${key}='${path.join(programRoot, value)}'`);
  const line = [`LD_LIBRARY_PATH='${libraries}'`, ...assignments, 'exec', `'${path.join(programRoot, found)}'`];
  const file = path.join(fresh, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${line.join(' ')} "$@"\n`);
  await chmod(file, 0o755);
}

function multiarch(): string[] {
  const names: Partial<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
  const name = names[process.arch];
  return name === undefined ? [] : [`usr/lib/${name}`];
}
