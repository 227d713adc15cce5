import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { debianRelease, unpackDebianPackages } from '#server/testing/debian-packages.ts';

const cache = path.resolve(process.env.DATA_DIR ?? path.join(import.meta.dirname, '../../.data'), 'murano-agent');
const packages = 'usr/lib/python3/dist-packages';

/** Returns why Debian's Murano agent cannot be used on this machine; null if it can. */
export async function missingForMurano(): Promise<string | null> {
  const suite = await debianRelease();
  // The agent's packages are built for the Python of their release.
  return suite === 'bookworm' ? null : 'Debian’s Murano agent 10 is only in Debian 12 (bookworm)';
}

/** Returns the folder of Debian's Murano agent with its dependencies, which the first call downloads and unpacks. */
async function unpackedAgent(): Promise<string> {
  const root = path.join(cache, 'bookworm');
  if (existsSync(path.join(root, packages, 'muranoagent'))) return root;
  const fresh = path.join(cache, `unpacking-${process.pid}`);
  await mkdir(cache, { recursive: true });
  await unpackDebianPackages(fresh, { suite: 'bookworm', packages: ['murano-agent'], withDependencies: true });
  await rm(root, { recursive: true, force: true });
  await rename(fresh, root);
  return root;
}

export interface MuranoSettings {
  port: number;
  inputQueue: string;
  resultQueue: string;
}

/** A throwaway copy of Debian's Murano agent, in its own process and folder. */
export class MuranoAgent {
  private readonly folder: string;
  private readonly child: ChildProcess;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.child = child;
  }

  static async start({ port, inputQueue, resultQueue }: MuranoSettings): Promise<MuranoAgent> {
    const root = await unpackedAgent();
    const folder = mkdtempSync(path.join(tmpdir(), 'annex-murano-'));
    cpSync(path.join(root, packages, 'muranoagent'), path.join(folder, 'muranoagent'), { recursive: true });
    repair(path.join(folder, 'muranoagent/execution_plan_queue.py'));
    const config = path.join(folder, 'muranoagent.conf');
    writeFileSync(
      config,
      [
        ...['[DEFAULT]', `storage = ${path.join(folder, 'storage')}`, 'use_stderr = true'],
        ...['[rabbitmq]', 'host = 127.0.0.1', `port = ${port}`, 'login = guest', 'password = guest'],
        ...['virtual_host = /', `input_queue = ${inputQueue}`, `result_routing_key = ${resultQueue}`, ''],
      ].join('\n'),
    );
    const code = 'import sys; from muranoagent.cmd.run import main; sys.exit(main())';
    const child = spawn('/usr/bin/python3', ['-c', code, '--config-file', config], {
      cwd: folder,
      env: { NODE_ENV: 'test', PATH: process.env.PATH, PYTHONPATH: `${folder}:${path.join(root, packages)}` },
      stdio: 'ignore',
      detached: true,
    });
    return new MuranoAgent(folder, child);
  }

  /** Returns the number of plans whose results the agent has not sent. */
  unansweredPlans(): number {
    const plans = readdirSync(path.join(this.folder, 'storage/plans'), { withFileTypes: true });
    return plans.filter((entry) => entry.isDirectory()).length;
  }

  async remove(): Promise<void> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit');
      // The agent runs in a child of its launcher, so the whole process group is killed.
      process.kill(-child.pid, 'SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * Repairs the agent by removing one character: the agent opens the file of a plan in binary mode (`wb`) but writes
 * text, so storing a plan raises a TypeError.
 */
function repair(file: string): void {
  const source = readFileSync(file, 'utf8');
  const fixed = source.replace("open(plan_file_path, 'wb')", "open(plan_file_path, 'w')");
  if (fixed === source) throw new Error('Debian’s Murano agent has changed, and the repair does not fit.');
  writeFileSync(file, fixed);
}
