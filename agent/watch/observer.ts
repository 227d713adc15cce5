import { type FSWatcher, lstatSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { StatusWord } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { Journal } from '../journal.ts';
import { wait } from '../portal/wait.ts';
import { type BootMoment, secondsSince } from './moment.ts';
import { type ReadFile, readDocument, statusOf } from './read-document.ts';

/** What the agent does with a status file after `success` or `error`: checks it for changes, or ignores it. */
export const afterConclusion = ['follow', 'stop'] as const;
export type AfterConclusion = (typeof afterConclusion)[number];

export interface ObserverSettings {
  heartbeatSeconds: number;
  statusSeconds: number;
  statusAfterConclusion: AfterConclusion;
}

export interface ObserverEvents {
  heartbeat(extension: string, read: ReadFile): void;
  status(extension: string, sequenceNumber: number, read: ReadFile, word: StatusWord | null): void;
  /** Called if a file stays unreadable. */
  problem(about: string, message: string, file: 'status' | 'heartbeat'): void;
}

interface Watched {
  kind: 'heartbeat' | 'status';
  extension: string;
  sequenceNumber: number;
  path: string;
  /** Modification time of an earlier command's status, which does not count while the current command runs. */
  leftAt: number | null;
  /**
   * Set once the status is `success` or `error`: the file's modification time when it was last checked, and the status.
   */
  concluded: { mtimeMs: number; word: StatusWord | null } | null;
  /** The last document that was reported; a different document is reported immediately. */
  lastText: string | null;
  lastProblem: string | null;
  /** When a file with this modification time was first seen, and the file's age at that time. */
  seen: { mtimeMs: number; at: BootMoment; ageSeconds: number } | null;
  reading: Promise<StatusWord | null> | null;
  /** Whether a reading is scheduled; further changes do not schedule another reading. */
  isDue: boolean;
  /** Whether a periodic reading is in progress; a second reading would only wait for the first. */
  isBeingRead: boolean;
  /** When a change was last read, by `performance.now()`. */
  changeRead: number;
}

const unread = {
  concluded: null,
  lastText: null,
  lastProblem: null,
  seen: null,
  reading: null,
  isDue: false,
  isBeingRead: false,
  changeRead: 0,
};

/** Minimum time between readings of a file that keeps changing. */
const changeMilliseconds = 200;

/**
 * Why a file is read. After a `change`, the file is reported if its text differs. For `everything`, it is always
 * reported. After a `period`, it is also reported if its text is the same, unless the status is terminal (AZ-S5).
 */
type Occasion = 'change' | 'period' | 'everything';

const isTerminal = (word: StatusWord | null): boolean => word === 'success' || word === 'error';

/**
 * Reads the files in which handlers report: periodically, because their age counts too, and when they change. Once a
 * status is terminal, its file is ignored or, depending on the settings, read again only when its modification time
 * changes (AZ-S5).
 */
export class Observer {
  private readonly watched = new Map<string, Watched>();
  private readonly watchers = new Map<string, FSWatcher>();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly stopping = new AbortController();
  private readonly events: ObserverEvents;
  private readonly journal: Journal;
  private readonly settings: ObserverSettings;

  constructor(events: ObserverEvents, journal: Journal, settings: ObserverSettings) {
    this.events = events;
    this.journal = journal;
    this.settings = settings;
    this.timers.push(
      setInterval(() => this.readAll('heartbeat'), settings.heartbeatSeconds * 1000),
      setInterval(() => this.readAll('status'), settings.statusSeconds * 1000),
    );
  }

  /** Starts reading a heartbeat file. */
  followHeartbeat(extension: string, path: string): void {
    const one = this.watched.get(`heartbeat ${extension}`);
    if (one?.path === path) return;
    this.follow({ kind: 'heartbeat', extension, sequenceNumber: 0, path, leftAt: null });
  }

  ignoreHeartbeat(extension: string): void {
    this.watched.delete(`heartbeat ${extension}`);
    this.updateWatchers();
  }

  /** Starts reading the status of a command that is about to run. */
  followStatus(extension: string, sequenceNumber: number, path: string): void {
    const leftAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
    this.follow({ kind: 'status', extension, sequenceNumber, path, leftAt });
  }

  /** Stops reading the files of an extension that was removed. */
  forget(extension: string): void {
    this.watched.delete(`heartbeat ${extension}`);
    this.watched.delete(`status ${extension}`);
    this.updateWatchers();
  }

  /** Reads the status of a command that has ended. Returns null if there is no valid status. */
  async readStatus(extension: string): Promise<StatusWord | null> {
    const one = this.watched.get(`status ${extension}`);
    if (one !== undefined) one.leftAt = null;
    return one === undefined ? null : await this.read(one, 'change');
  }

  async readEverything(): Promise<void> {
    const all = [...this.watched.values()].filter((one) => one.concluded === null || this.hasChanged(one));
    await Promise.all(all.map((one) => this.read(one, 'everything')));
  }

  stop(): void {
    this.stopping.abort();
    for (const timer of this.timers) clearInterval(timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watched.clear();
    this.watchers.clear();
  }

  private follow(what: Omit<Watched, keyof typeof unread>): void {
    const one: Watched = { ...what, ...unread };
    this.watched.set(`${what.kind} ${what.extension}`, one);
    this.updateWatchers();
    void this.readSoon(one, 'change');
  }

  private readAll(kind: Watched['kind']): void {
    this.updateWatchers();
    for (const one of this.watched.values()) {
      if (one.isBeingRead || !this.mustRead(one, kind)) continue;
      one.isBeingRead = true;
      void this.readSoon(one, 'period').finally(() => {
        one.isBeingRead = false;
      });
    }
  }

  private mustRead(one: Watched, kind: Watched['kind']): boolean {
    if (one.concluded === null) return one.kind === kind;
    // After `success` or `error`, a status file is checked whenever heartbeats are read. Once its status is no longer
    // terminal, it is also checked whenever other statuses are read (AZ-S4).
    return (kind === 'heartbeat' || !isTerminal(one.concluded.word)) && this.hasChanged(one);
  }

  /** Whether the file of a concluded status was modified since it was last checked. */
  private hasChanged({ concluded, path }: Watched): boolean {
    if (concluded === null) return false;
    try {
      const { mtimeMs } = lstatSync(path);
      if (mtimeMs === concluded.mtimeMs) return false;
      concluded.mtimeMs = mtimeMs;
      return true;
    } catch {
      return false;
    }
  }

  private async readSoon(one: Watched, occasion: Occasion): Promise<void> {
    await this.read(one, occasion).catch((error: unknown) => this.journal.warn(`${one.path}: ${sentenceOf(error)}`));
  }

  /** Reads a file, one reading at a time. If the file changes during a reading, it is read again afterwards. */
  private async read(one: Watched, occasion: Occasion): Promise<StatusWord | null> {
    while (one.reading !== null) await one.reading;
    if (!this.isCurrent(one)) return null;
    one.reading = this.readOnce(one, occasion).finally(() => {
      one.reading = null;
    });
    return await one.reading;
  }

  private async readOnce(one: Watched, occasion: Occasion): Promise<StatusWord | null> {
    let read: ReadFile | null;
    try {
      read = await readDocument(one.path, this.stopping.signal);
    } catch (error) {
      this.reportProblem(one, sentenceOf(error));
      return null;
    }
    if (read === null || read.mtimeMs === one.leftAt || !this.isCurrent(one)) return null;
    read = { ...read, ageSeconds: ageOf(one, read) };
    // Checked here, because the status may have become terminal since this reading was scheduled.
    const isRepeated = occasion === 'period' && !isTerminal(one.concluded?.word ?? null);
    const isReported = isRepeated || occasion === 'everything' || read.text !== one.lastText;
    one.lastText = read.text;
    one.lastProblem = null;
    if (one.kind === 'heartbeat') {
      if (isReported) this.events.heartbeat(one.extension, read);
      return null;
    }
    const word = statusOf(read.file)?.status ?? null;
    if (isReported) this.events.status(one.extension, one.sequenceNumber, read, word);
    this.conclude(one, word, read.mtimeMs);
    return word;
  }

  private conclude(one: Watched, word: StatusWord | null, mtimeMs: number): void {
    if (one.concluded !== null) one.concluded = { mtimeMs, word };
    else if (isTerminal(word)) {
      if (this.settings.statusAfterConclusion === 'follow') one.concluded = { mtimeMs, word };
      else this.watched.delete(`status ${one.extension}`);
      this.updateWatchers();
    }
  }

  private reportProblem(one: Watched, problem: string): void {
    if (problem === one.lastProblem || this.stopping.signal.aborted) return;
    one.lastProblem = problem;
    const message = `${one.extension}: its ${one.kind} file cannot be read: ${problem}. The last valid one is kept.`;
    this.journal.warn(message, { path: one.path });
    this.events.problem(one.extension, message, one.kind);
  }

  private isCurrent(one: Watched): boolean {
    return this.watched.get(`${one.kind} ${one.extension}`) === one;
  }

  /**
   * Keeps one watcher for each folder with a heartbeat or a status that is not concluded. If watching fails, the files
   * are still read periodically.
   */
  private updateWatchers(): void {
    const folders = new Set(
      [...this.watched.values()].filter(({ concluded }) => concluded === null).map((one) => dirname(one.path)),
    );
    for (const [folder, watcher] of this.watchers) {
      if (!folders.has(folder)) this.unwatch(folder, watcher);
    }
    for (const folder of folders) {
      if (this.watchers.has(folder) || this.stopping.signal.aborted) continue;
      try {
        const watcher = watch(folder, (_event, name) => this.changed(folder, name));
        watcher.on('error', () => this.unwatch(folder, watcher));
        this.watchers.set(folder, watcher);
      } catch (error) {
        this.journal.note(`${folder} is not watched: ${sentenceOf(error)}`);
      }
    }
  }

  private unwatch(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.watchers.delete(folder);
  }

  private changed(folder: string, name: string | null): void {
    for (const one of this.watched.values()) {
      if (
        one.concluded !== null ||
        dirname(one.path) !== folder ||
        (name !== null && basename(one.path) !== name) ||
        one.isDue
      )
        continue;
      one.isDue = true;
      void this.readChange(one);
    }
  }

  private async readChange(one: Watched): Promise<void> {
    await wait((one.changeRead + changeMilliseconds - performance.now()) / 1000, [this.stopping.signal]);
    while (one.reading !== null) await one.reading.catch(() => null);
    one.isDue = false;
    one.changeRead = performance.now();
    void this.readSoon(one, 'change');
  }
}

/**
 * Returns a file's age: its age when first seen plus the time since then, so that clock changes do not affect it
 * (AZ-H3).
 */
function ageOf(one: Watched, { mtimeMs, ageSeconds, readAt }: ReadFile): number {
  if (one.seen?.mtimeMs !== mtimeMs) one.seen = { mtimeMs, at: readAt, ageSeconds };
  return one.seen.ageSeconds + secondsSince(one.seen.at);
}
