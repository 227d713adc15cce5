import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newUnitRecord, type UnitState } from '#protocol/index.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import type { Journal } from '../../journal.ts';
import type { UnitCalls } from '../../portal/unit-calls.ts';
import { LocalUnit } from '../../unit/local-unit.ts';
import type { LogEntry } from '../../unit/log-entry.ts';
import { portalReader } from '../../unit/portal-reader.ts';
import { patientReader } from '../../unit/read-node.ts';
import { newUnitFile, readUnitFiles, type UnitFile } from '../../unit/unit-file.ts';
import { unitPathsOf } from '../../unit/unit-paths.ts';

export interface LocalUnitsOptions {
  layout: AgentLayout;
  journal: Journal;
  calls: Pick<UnitCalls, 'readNode' | 'readServiceSettings'>;
  boot: string;
}

/** Maximum size of the file with the messages of a day that were logged outside of hooks. */
const maxDayBytes = 16 * 1024 * 1024;

/** The units on this machine, by name. */
export class LocalUnits {
  private readonly options: LocalUnitsOptions;
  private readonly byName = new Map<string, LocalUnit>();

  constructor(options: LocalUnitsOptions) {
    this.options = options;
  }

  all(): LocalUnit[] {
    return [...this.byName.values()];
  }

  get(name: string): LocalUnit | undefined {
    return this.byName.get(name);
  }

  get isEmpty(): boolean {
    return this.byName.size === 0;
  }

  /** Restores the units from disk. After a reboot of the machine, their services must be started again (EN-79). */
  load(): void {
    const { layout, boot } = this.options;
    for (const file of readUnitFiles(layout)) {
      const unit = this.open(file);
      if (unit.record.boot !== boot) unit.save({ record: { ...unit.record, boot } });
    }
  }

  /**
   * Sets the goals of the units. A unit that the portal no longer names is left as it is. Returns the units that have a
   * goal and had none.
   */
  take({ units }: UnitState): LocalUnit[] {
    const goals = new Map(units.map((goal) => [goal.unit, goal]));
    for (const name of goals.keys()) {
      if (!this.byName.has(name)) this.open(newUnitFile(name, this.options.boot));
    }
    const fresh: LocalUnit[] = [];
    for (const unit of this.byName.values()) {
      const goal = goals.get(unit.name) ?? null;
      if (unit.goal === null && goal !== null) fresh.push(unit);
      if (unit.goal !== null && goal === null) void unit.closeSocket();
      unit.goal = goal;
    }
    return fresh;
  }

  drop(unit: LocalUnit): void {
    this.byName.delete(unit.name);
  }

  /** Starts over with a unit whose folder was deleted, although it should be on this machine. */
  restore(unit: LocalUnit): void {
    unit.save({ ...newUnitFile(unit.name, this.options.boot), record: newUnitRecord(this.options.boot) });
  }

  async closeSockets(): Promise<void> {
    await Promise.all(this.all().map((unit) => unit.closeSocket()));
  }

  private open(file: UnitFile): LocalUnit {
    const { layout, journal, calls } = this.options;
    const paths = unitPathsOf(layout, file.unit);
    const unit = new LocalUnit(file, {
      paths,
      readNode: patientReader(portalReader(layout, calls, file.unit)),
      portHolder: (port) => this.all().find((each) => each !== unit && each.ports.includes(port))?.name ?? null,
      log: (entry) => logToday(paths.logFolder, entry),
      onFault: (error) => journal.warn(`${file.unit}: a command of a hook failed in the agent: ${String(error)}`),
    });
    this.byName.set(file.unit, unit);
    return unit;
  }
}

/** Adds a message from outside of hooks to the file of the day. */
function logToday(folder: string, { level, message }: LogEntry): void {
  const file = join(folder, `${new Date().toISOString().slice(0, 10)}.log`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxDayBytes) return;
  appendFileSync(file, `${level} ${message}\n`, { mode: 0o600 });
}
