import { existsSync, mkdirSync } from 'node:fs';
import {
  type ConfirmedHook,
  confirmHook,
  type DueHook,
  failHook,
  forgetRelations,
  type UnitGoal,
  type UnitRecord,
} from '#protocol/index.ts';
import { AmpServer } from '../amp/server.ts';
import { discard, writeJson } from '../folder/write-file.ts';
import { Contexts, contextInputOf } from './contexts.ts';
import type { ContextServices } from './hook-context.ts';
import type { LogEntry } from './log-entry.ts';
import type { RunLog } from './run-log.ts';
import { unitCommands } from './unit-commands.ts';
import type { UnitFile } from './unit-file.ts';
import { formulaRootOf, type UnitPaths } from './unit-paths.ts';

export interface LocalUnitServices extends Pick<ContextServices, 'readNode' | 'portHolder'> {
  paths: UnitPaths;
  /** Receives messages of `ensemble-log` from outside of hooks. */
  log(entry: LogEntry): void;
  /** Receives errors that are faults of the agent. */
  onFault(error: unknown): void;
}

/** A unit on this machine: its goal, what it has confirmed, and the server for the commands of its hooks. */
export class LocalUnit {
  readonly name: string;
  readonly paths: UnitPaths;
  readonly contexts: Contexts;
  /** The unit’s goal at the portal; null if the portal no longer lists the unit. */
  goal: UnitGoal | null = null;
  /** Texts that the output of the unit's hooks must not show. */
  readonly secrets = new Set<string>();
  /** The run of the hook that is running, and its output. */
  running: { run: string; log: RunLog } | null = null;
  private file: UnitFile;
  private server: Promise<AmpServer> | null = null;
  private readonly services: LocalUnitServices;

  constructor(file: UnitFile, services: LocalUnitServices) {
    this.name = file.unit;
    this.paths = services.paths;
    this.file = file;
    this.services = services;
    this.contexts = new Contexts({ readNode: services.readNode, portHolder: services.portHolder });
  }

  get record(): UnitRecord {
    return this.file.record;
  }

  /** Hooks that counted as done without a run, and that the portal does not know of. */
  get skipped(): readonly ConfirmedHook[] {
    return this.file.skipped;
  }

  get ports(): readonly string[] {
    return this.file.ports;
  }

  get isRemoved(): boolean {
    return this.file.isRemoved;
  }

  /**
   * The folder of the formula's version that is unpacked; null if it is not, or if a hook deleted the folder. `sha256`:
   * only of this package.
   */
  formulaRoot(version: string, sha256?: string): string | null {
    const found = this.file.formulas[version];
    const isWanted = found !== undefined && (sha256 === undefined || found === sha256);
    const root = formulaRootOf(this.paths, version);
    return isWanted && existsSync(root) ? root : null;
  }

  /** Changes what the agent keeps of the unit on disk. */
  save(changes: Partial<UnitFile>): void {
    const file = { ...this.file, ...changes };
    const record = this.goal === null ? file.record : forgetRelations(this.goal, file.record);
    this.file = { ...file, record };
    writeJson(this.paths.file, this.file);
  }

  noteFormula(version: string, sha256: string): void {
    this.save({ formulas: { ...this.file.formulas, [version]: sha256 } });
  }

  /** Deletes the versions of the formula that are no longer needed. */
  dropFormulas(): void {
    const { record, goal } = this;
    const needed = [goal?.formula.version, record.formula, record.configured?.formula];
    for (const version of Object.keys(this.file.formulas)) {
      if (needed.includes(version)) continue;
      discard(formulaRootOf(this.paths, version));
      const { [version]: _, ...formulas } = this.file.formulas;
      this.save({ formulas });
    }
  }

  /** Stores the record after hooks that count as done without a run, and keeps them for the portal. */
  skip(record: UnitRecord, hooks: readonly ConfirmedHook[]): void {
    this.save({ record, skipped: [...this.skipped, ...hooks] });
  }

  /** Notes a hook that ended with 0, and whose changes the portal has stored. Can be repeated. */
  confirm(due: DueHook, ports: { open: readonly string[]; close: readonly string[] }): void {
    const open = this.ports.filter((port) => !ports.close.includes(port) && !ports.open.includes(port));
    this.save({ record: confirmHook(this.record, due), ports: [...open, ...ports.open] });
  }

  /** Notes a run that did not succeed. Can be repeated. */
  fail(due: DueHook, run: string): void {
    const isKnown = Object.values(this.record.failing).some((failure) => failure.run === run);
    if (!isKnown) this.save({ record: failHook(this.record, due, { run, now: Date.now() }) });
  }

  /** Returns the path of the unit's socket, and creates the socket if there is none, or if a hook deleted it. */
  async openSocket(): Promise<string> {
    const open = await this.server?.catch(() => null);
    if (open && !existsSync(open.path)) await this.closeSocket();
    this.server ??= this.listen();
    const { server } = this;
    try {
      return (await server).path;
    } catch (error) {
      if (this.server === server) this.server = null;
      throw error;
    }
  }

  async closeSocket(): Promise<void> {
    const { server } = this;
    this.server = null;
    await server?.then((each) => each.close()).catch(() => {});
  }

  private async listen(): Promise<AmpServer> {
    mkdirSync(this.paths.container, { recursive: true, mode: 0o755 });
    return await AmpServer.listen(this.paths.socket, {
      respond: unitCommands({
        contexts: this.contexts,
        now: () => contextInputOf(this.requireGoal(), this.record, null),
        log: (entry) => this.log(entry),
      }),
      onFault: (error) => this.services.onFault(error),
    });
  }

  private requireGoal(): UnitGoal {
    if (this.goal === null) throw new Error(`${this.name} is not on this machine any more`);
    return this.goal;
  }

  private log(entry: LogEntry): void {
    const { running } = this;
    if (entry.clientId !== null && entry.clientId === running?.run) running.log.entry(entry);
    else this.services.log(entry);
  }
}
