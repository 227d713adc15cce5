import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import {
  type AgentRequest,
  agentsFolder,
  dropAgentRequest,
  listAgentFolders,
  maxSpawnedAgents,
  readAgentRequest,
} from '#server/domain/topology/index.ts';
import { type Child, keepRunning } from '#server/launcher/child.ts';
import { bareEnvironment, type Config } from '#server/platform/env.ts';
import { endProcessesBelow } from '#server/platform/processes.ts';

const run = promisify(execFile);

/** After this number of failures, an agent is not enrolled again until the fabric restarts. */
const maxAttempts = 5;

interface AgentsOptions {
  config: Pick<Config, 'dataDir' | 'host' | 'port'>;
  /** The folder of the program. */
  root: string;
  /** Address of the portal; by default, where this machine’s portal listens. */
  portal?: string;
  log: Logger;
}

/** The reference agents of roles, which run as long as their roles exist. */
export class SpawnedAgents {
  readonly #options: AgentsOptions;
  readonly #children = new Map<string, Child>();
  readonly #failures = new Map<string, number>();
  /** The id of this run. Everything that agents started ends with it, so they take the next run for a restart of the machine. */
  readonly #boot = randomUUID();
  #isSwept = false;
  #isStopping = false;
  #pass: Promise<void> | null = null;

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /**
   * Starts the agents of roles that exist, and ends those whose roles are gone, unless an earlier call is still doing
   * so. `readRoles` returns the instance ids.
   */
  follow(readRoles: () => Promise<ReadonlySet<string>>): void {
    if (this.#isStopping || this.#pass !== null) return;
    this.#pass = this.#follow(readRoles)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'the agents of roles could not be compared'))
      .finally(() => {
        this.#pass = null;
      });
  }

  /** Whether no call of `follow` is working. */
  get isSettled(): boolean {
    return this.#pass === null;
  }

  async #follow(readRoles: () => Promise<ReadonlySet<string>>): Promise<void> {
    const { config, log } = this.#options;
    // If the fabric was killed, its agents are still running.
    if (!this.#isSwept) await endProcessesBelow(agentsFolder(config.dataDir));
    this.#isSwept = true;
    // The folders are read first: each of them belongs to a role that already exists, or to one that is gone.
    const folders = await listAgentFolders(config.dataDir);
    const roles = await readRoles();
    for (const id of folders) {
      if (this.#isStopping) return;
      try {
        if (!roles.has(id)) await this.#end(id);
        else if (!this.#children.has(id)) await this.#begin(id);
      } catch (error) {
        log.warn({ err: error, instance: id }, 'the agent of a role could not be started or ended');
      }
    }
  }

  async #begin(id: string): Promise<void> {
    const { config, root, log } = this.#options;
    if (this.#children.size >= maxSpawnedAgents) return;
    const folder = join(agentsFolder(config.dataDir), id);
    if (!existsSync(join(folder, 'credential'))) {
      const request = await readAgentRequest(config.dataDir, id);
      if (request === null || (this.#failures.get(id) ?? 0) >= maxAttempts) return;
      this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1);
      await this.#enroll(id, folder, request);
      this.#failures.delete(id);
    }
    await dropAgentRequest(config.dataDir, id);
    // The agents run on one machine, so each keeps its keys in its own folder.
    const pace = ['--heartbeat-seconds', '20', '--status-seconds', '20', '--waagent-folder', 'none'];
    const bootFile = join(folder, 'boot-id');
    await writeFile(bootFile, this.#boot);
    const options = ['--dir', folder, '--boot-id-file', bootFile, ...pace];
    const child = keepRunning({
      ...{ name: `agent of ${id}`, args: [join(root, 'agent', 'main.ts'), 'run', ...options] },
      ...{ cwd: folder, env: bareEnvironment(), tellsReady: false, quiet: true },
      say: (line) => log.info(line),
    });
    child.ready.catch((error: unknown) => log.warn({ err: error, instance: id }, 'an agent could not be started'));
    this.#children.set(id, child);
  }

  async #enroll(id: string, folder: string, { token, address }: AgentRequest): Promise<void> {
    const { root } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The token is passed in a file, because every user of the machine can read command lines.
    const tokenFile = join(folder, 'enrollment-token');
    await writeFile(tokenFile, token, { mode: 0o600 });
    const instance = ['--instance-id', id, '--internal-address', address];
    const args = ['enroll', '--dir', folder, '--portal', this.#portal(), '--token-file', tokenFile, ...instance];
    try {
      await run(process.execPath, [join(root, 'agent', 'main.ts'), ...args], { cwd: folder, env: bareEnvironment() });
    } finally {
      await rm(tokenFile, { force: true });
    }
  }

  #portal(): string {
    const { config, portal } = this.#options;
    const host = ['0.0.0.0', '::'].includes(config.host) ? 'localhost' : config.host;
    return portal ?? `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
  }

  /** Ends the agent of a role that is gone, and deletes its folder. */
  async #end(id: string): Promise<void> {
    const { dataDir } = this.#options.config;
    const folder = join(agentsFolder(dataDir), id);
    await this.#children.get(id)?.stop();
    this.#children.delete(id);
    await endProcessesBelow(folder);
    await dropAgentRequest(dataDir, id);
    await rm(folder, { recursive: true, force: true });
  }

  /** Stops all agents, and the processes of their handlers. They run again when the fabric starts. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#pass;
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
    this.#children.clear();
    await endProcessesBelow(agentsFolder(this.#options.config.dataDir));
  }
}
