import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { programBin, programRoot } from '#server/testing/programs.ts';
import type { AgentPackage } from './waagent-package.ts';

const root = path.resolve(import.meta.dirname, '../..');
const namespaces = ['--mount', '--net', '--uts', '--ipc', '--pid'];

export interface StockMachineOptions {
  name: string;
  agent: AgentPackage;
  gatewayUrl: string;
  vmId: string;
  token: string;
  /** Settings in waagent.conf that differ from the package's file. */
  settings?: Record<string, string>;
  /** Folder to which the logs are copied when the machine is removed. */
  logs: string;
}

/** Settings for a machine without cloud-init, disks or network cards. All others are Debian's defaults. */
const usualSettings: Record<string, string> = {
  'Provisioning.Agent': 'disabled',
  'Provisioning.DeleteRootPassword': 'n',
  'Provisioning.RegenerateSshHostKeyPair': 'n',
  'Provisioning.MonitorHostName': 'n',
  'ResourceDisk.Format': 'n',
  'OS.RootDeviceScsiTimeout': 'None',
  'AutoUpdate.Enabled': 'n',
  'Logs.Collect': 'n',
};

/**
 * A throwaway machine with the real stock agent, and `agent wire-forward` next to it. Both end with this process,
 * however this process ends.
 */
export class StockMachine {
  readonly options: StockMachineOptions;
  private readonly folder: string;
  private guest: ChildProcess | null = null;
  private forwarder: ChildProcess | null = null;
  private said: string[] = [];
  private readonly listeners = new Set<() => void>();
  private pid = 0;

  private constructor(options: StockMachineOptions) {
    this.options = options;
    this.folder = mkdtempSync(path.join(tmpdir(), 'annex-stock-'));
  }

  /** Starts a machine and its forwarder, but not its agent. */
  static async make(options: StockMachineOptions): Promise<StockMachine> {
    const machine = new StockMachine(options);
    try {
      await machine.boot();
      await machine.startForwarder();
      return machine;
    } catch (error) {
      await machine.remove();
      throw error;
    }
  }

  async start(): Promise<void> {
    await this.tell('start');
  }

  /** Stops everything on the machine, as if it were turned off. The disk remains. */
  async stop(): Promise<void> {
    await this.tell('stop');
  }

  /** Runs a command on the machine as root and returns its output. Rejects if the command fails. */
  async run(command: string, ...args: string[]): Promise<string> {
    const inside = ['--target', String(this.pid), ...namespaces, 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin'];
    const { stdout } = await promisify(execFile)('nsenter', [...inside, command, ...args], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  /** Returns the path of one of the machine's files, as this process sees it. */
  file(name: string): string {
    return `/proc/${this.pid}/root${name}`;
  }

  /** Returns the text of one of the machine's files; empty if the file does not exist. */
  text(name: string): string {
    const file = this.file(name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  write(name: string, text: string): void {
    mkdirSync(path.dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  log(): string {
    return this.text('/var/log/waagent.log');
  }

  async startForwarder(): Promise<void> {
    const { gatewayUrl, vmId, token } = this.options;
    const line = ['agent/main.ts', 'wire-forward', '--dir', path.join(this.folder, 'forwarder'), '--vm', vmId];
    const where = ['--gateway', gatewayUrl, '--network-namespace', `/proc/${this.pid}/ns/net`];
    const forwarder = spawn(process.execPath, [...line, ...where], {
      cwd: root,
      env: { PATH: process.env.PATH, ANNEX_GUEST_TOKEN: token, NODE_ENV: 'production' },
      // The forwarder ends when the channel to this process closes.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.forwarder = forwarder;
    this.keep(forwarder, 'forwarder.log');
    await new Promise<void>((resolve, reject) => {
      forwarder.stdout?.on('data', (chunk) => {
        if (String(chunk).includes('Annex forwarder')) resolve();
      });
      forwarder.once('exit', () => reject(new Error(`The forwarder did not start; see ${this.options.logs}.`)));
    });
  }

  async stopForwarder(): Promise<void> {
    await ended(this.forwarder, 'SIGTERM');
    this.forwarder = null;
  }

  /** Removes the machine except for its logs. */
  async remove(): Promise<void> {
    mkdirSync(this.options.logs, { recursive: true });
    for (const name of ['waagent.log', 'waagent.out', 'probe.log']) {
      const text = this.pid === 0 ? '' : this.text(`/var/log/${name}`);
      if (text !== '') writeFileSync(path.join(this.options.logs, `${this.options.name}-${name}`), text);
    }
    await this.stopForwarder();
    await ended(this.guest, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private async boot(): Promise<void> {
    const { name, agent } = this.options;
    const disk = path.join(this.folder, 'disk');
    mkdirSync(disk);
    const script = path.join(import.meta.dirname, 'guest.sh');
    const guest = spawn(
      'unshare',
      [...namespaces, '--fork', '--kill-child', 'bash', script, disk, agent.root, name, programRoot],
      {
        env: {
          PATH: `/usr/sbin:/usr/bin:/sbin:/bin:${programBin}`,
          WAAGENT_CONF: this.configuration(),
          NODE_ENV: 'production',
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.guest = guest;
    this.keep(guest, 'machine.log');
    createInterface({ input: guest.stdout as NodeJS.ReadableStream }).on('line', (line) => this.hear(line));
    guest.once('error', ({ message }) => this.hear(`ended ${message}`));
    guest.once('exit', (code) => this.hear(`ended ${code}`));
    this.pid = Number((await this.heard('ready')).split(' ')[1]);
  }

  private configuration(): string {
    const settings = { ...usualSettings, ...this.options.settings };
    const shipped = readFileSync(path.join(this.options.agent.root, 'etc/waagent.conf'), 'utf8').split('\n');
    const kept = shipped.filter((line) => settings[line.split('=')[0] ?? ''] === undefined);
    return [...kept, ...Object.entries(settings).map(([key, value]) => `${key}=${value}`)].join('\n');
  }

  private async tell(word: string): Promise<void> {
    this.guest?.stdin?.write(`${word}\n`);
    await this.heard(`done ${word}`);
  }

  private hear(line: string): void {
    this.said.push(line);
    for (const listener of this.listeners) listener();
  }

  /** Waits until the machine's first process prints a line that begins with `start`. Rejects if the process ends. */
  private heard(start: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.said.findIndex((line) => line.startsWith(start) || line.startsWith('ended'));
        if (found === -1) return;
        this.listeners.delete(look);
        const [line = ''] = this.said.splice(found, 1);
        if (line.startsWith('ended')) reject(new Error(`The machine ended by itself; see ${this.options.logs}.`));
        else resolve(line);
      };
      this.listeners.add(look);
      look();
    });
  }

  private keep(child: ChildProcess, file: string): void {
    mkdirSync(this.options.logs, { recursive: true });
    const log = createWriteStream(path.join(this.options.logs, `${this.options.name}-${file}`), { flags: 'a' });
    child.stderr?.pipe(log, { end: false });
    if (file === 'forwarder.log') child.stdout?.pipe(log, { end: false });
    child.once('close', () => log.end());
  }
}

async function ended(child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill(signal);
  await end;
}
