import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A machine with a real agent process that can be killed and restarted. */
export class SoakMachine {
  readonly vmId: string;
  readonly folder: string;
  private readonly agentRoot: string;
  private readonly log: string;
  private child: ChildProcess | null = null;
  private isStopping = false;

  /** `agentRoot` is the root of the Annex checkout whose agent runs. */
  constructor(vmId: string, folder: string, agentRoot: string) {
    this.vmId = vmId;
    this.agentRoot = agentRoot;
    this.folder = join(folder, 'agent');
    this.log = join(folder, 'agent.log');
    mkdirSync(folder, { recursive: true });
  }

  /** `instance`: the role whose instance the machine is, and its internal address. */
  async enroll(portal: string, token: string, instance?: { id: string; address: string }): Promise<void> {
    const role = instance === undefined ? [] : ['--instance-id', instance.id, '--internal-address', instance.address];
    const child = this.spawn('enroll', '--portal', portal, '--token', token, ...role);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`An agent did not enroll, see ${this.log}.`);
  }

  start(): void {
    if (!this.isStopping) this.child = this.spawn('run', '--heartbeat-seconds', '2', '--status-seconds', '2');
  }

  /** Kills the agent with `kill -9` and restarts it after a pause. Returns false if it was not running. */
  async kill(pauseMs: number): Promise<boolean> {
    const child = this.child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return false;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await delay(pauseMs);
    this.start();
    return true;
  }

  /** Whether the agent exited without being killed. */
  hasEnded(): boolean {
    return this.child !== null && this.child.exitCode !== null;
  }

  /** Returns how many reports or outputs the portal has not acknowledged. */
  waitingIn(folder: 'reports' | 'uploads'): number {
    return readdirSync(join(this.folder, folder)).length;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const child = this.child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  private spawn(command: string, ...args: string[]): ChildProcess {
    const child = spawn(process.execPath, ['agent/main.ts', command, '--dir', this.folder, ...args], {
      cwd: this.agentRoot,
      // Without this, an agent that runs as root would write to /var/lib/waagent on the host.
      env: { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk) => appendFileSync(this.log, chunk));
    return child;
  }
}
