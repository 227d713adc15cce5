import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentProgram } from '#server/testing/agent-program.ts';
import type { CreatedVm } from './api.ts';
import type { Portal } from './portal.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A VM whose machine enrolls; for a machine of a model, with its instance id and its internal address. */
export type EnrollingVm = Pick<CreatedVm, 'enrollmentToken'> &
  Partial<CreatedVm> & { instanceId?: string; internalAddress?: string };

/** The reference agent as a real process with its own folder. */
export class AgentProcess {
  /** All files of this machine: identity, packages, settings, status files. */
  readonly dir = mkdtempSync(path.join(tmpdir(), 'annex-guest-'));
  readonly #logFile = path.join(this.dir, 'process.log');
  #child: ChildProcess | null = null;

  /** Enrolls the machine and starts the agent. */
  static async start(portal: Portal, vm: EnrollingVm): Promise<AgentProcess> {
    const agent = new AgentProcess();
    const { enrollmentToken, instanceId, internalAddress } = vm;
    const code = await agent.#spawn([
      ...['enroll', '--portal', portal.gatewayUrl, '--token', enrollmentToken],
      ...(instanceId === undefined ? [] : ['--instance-id', instanceId]),
      ...(internalAddress === undefined ? [] : ['--internal-address', internalAddress]),
    ]);
    if (code !== 0) throw new Error(`The agent did not enroll:\n${readFileSync(agent.#logFile, 'utf8')}`);
    agent.resume();
    return agent;
  }

  /** Starts the agent, for the first time or after a stop, with short periods so that journeys need not wait. */
  resume(): void {
    void this.#spawn(['run', '--heartbeat-seconds', '1', '--status-seconds', '1']);
  }

  /** Stops the agent: with SIGTERM as an operator would, with SIGKILL as a crash would. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the number of reports on disk that the portal has not acknowledged. */
  waitingReports(): number {
    return readdirSync(path.join(this.dir, 'reports')).filter((name) => name.endsWith('.json')).length;
  }

  /** Stops the agent and removes its folder, which ends the services of its handlers. */
  async remove(): Promise<void> {
    await this.stop();
    // A service may still be writing its heartbeat.
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 });
  }

  #spawn([command = '', ...args]: string[]): Promise<number | null> {
    const child = spawn(process.execPath, [agentProgram(), command, '--dir', this.dir, ...args], {
      cwd: root,
      // Keeps an agent that runs as root from writing to this machine's own folders.
      env: { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const log = (chunk: Buffer) => appendFileSync(this.#logFile, chunk);
    child.stdout.on('data', log);
    child.stderr.on('data', log);
    return new Promise((resolve) => child.once('close', resolve));
  }
}
