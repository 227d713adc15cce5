import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Environment variable of the isolated process that contains the name of the isolation method. */
export const isolationVariable = 'ANNEX_TRY_ISOLATION';

/**
 * Ways to isolate a trial, strongest first. Each way cuts off the network, ends all processes when the trial ends, and
 * prevents changes to the clock.
 */
const ways: { name: string; line: string[] }[] = [
  {
    name: 'without network access, in its own process namespace',
    line: [...unshare(), 'setpriv', '--bounding-set', '-sys_boot,-sys_time', '--inh-caps', '-sys_boot,-sys_time'],
  },
  { name: 'without network access, in its own process namespace', line: unshare('--map-root-user') },
];

function unshare(...more: string[]): string[] {
  return ['unshare', ...more, '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
}

const leavingMilliseconds = 3_000;

/**
 * The shell stays as process 1, to reap the processes that handlers leave behind, and brings up the loopback interface
 * that handlers need.
 */
const init = ['/bin/sh', '-c', 'ip link set lo up 2>/dev/null; "$@"; exit $?', 'annex-try'];

/**
 * Runs this program again with the same arguments and without a network. Returns its exit code, or null if this machine
 * does not allow isolation.
 */
export async function runIsolated(
  argv: string[],
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<number | null> {
  const way = ways.find(({ line }) => isPossible(line));
  if (way === undefined) return null;
  const [program = '', ...line] = [...way.line, ...init, process.execPath, ...process.execArgv, ...argv];
  // Contains the trial's folder, so that this process can delete it if the trial is killed.
  const within = mkdtempSync(join(tmpdir(), 'annex-try-'));
  const env: Record<string, string | undefined> = { ...environment, [isolationVariable]: way.name, TMPDIR: within };
  const child = spawn(program, line, { stdio: 'inherit', env: env as NodeJS.ProcessEnv });
  // The inner process may also have received the signal, and needs time to clean up. Afterwards, killing `unshare` ends
  // the whole namespace.
  signal.addEventListener('abort', () => setTimeout(() => child.kill('SIGKILL'), leavingMilliseconds));
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null));
    child.on('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  rmSync(within, { recursive: true, force: true, maxRetries: 10 });
  return code;
}

function isPossible([program = '', ...line]: string[]): boolean {
  try {
    execFileSync(program, [...line, 'true'], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
