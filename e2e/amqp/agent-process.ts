import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const main = path.join(root, 'agent/main.ts');

/** An agent with its own process and folder. */
export class AgentProcess {
  readonly dir: string;
  private child: ChildProcess | null = null;

  constructor(settings: object) {
    this.dir = mkdtempSync(path.join(tmpdir(), 'annex-amqp-agent-'));
    this.configure(settings);
  }

  /** Replaces the settings, which the agent reads when it starts. */
  configure(settings: object): void {
    mkdirSync(this.dir, { recursive: true });
    writeFileSync(path.join(this.dir, 'config.json'), JSON.stringify(settings));
  }

  start(): void {
    this.child = spawn(process.execPath, [main, 'run', '--dir', this.dir], {
      env: { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
      stdio: 'ignore',
    });
  }

  async stop(how: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(how);
    await exited;
  }

  /** Returns the findings of `agent doctor` for the broker. */
  async doctor(
    environment: Record<string, string> = {},
  ): Promise<{ check: string; verdict: string; what: string; toDo?: string }[]> {
    const env = { ...process.env, ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor', '--json', '--dir', this.dir], {
      env,
    }).catch((error: { stdout: string }) => error);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; verdict: string; what: string }[] };
    return findings.filter(({ check }) => check === 'broker');
  }

  log(): string {
    return readFileSync(path.join(this.dir, 'logs/agent.log'), 'utf8');
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 });
  }
}
