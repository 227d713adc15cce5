import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { openFileBelow } from '../folder/shared-files.ts';
import { NotPlain } from '../folder/shared-folder.ts';
import { discard, readJson, writeJson } from '../folder/write-file.ts';
import type { Journal } from '../journal.ts';
import { backoff } from '../portal/backoff.ts';
import { type Portal, PortalRefusal } from '../portal/portal.ts';
import { wait } from '../portal/wait.ts';
import { openQueueFolder, queueFile } from './queue-folder.ts';

const upload = z.object({
  extension: z.string(),
  command: z.enum(commandNames),
  attempt: z.int(),
  sequence: z.int(),
  /** Path of the complete output, which stays in the handler's log folder. */
  file: z.string(),
  /** Number of bytes that the portal has. */
  sent: z.int().default(0),
});

export type LogUpload = z.input<typeof upload>;
type Queued = z.output<typeof upload>;

const pieceBytes = 1024 * 1024;
/** Beyond this number, the oldest outputs are not uploaded and stay only on the machine. */
const maxQueued = 500;

/** Uploads complete outputs of commands in pieces. Pending uploads are stored on disk. */
export class LogUploads {
  private readonly folder: string;
  private readonly portal: Portal;
  private readonly journal: Journal;
  private readonly numbers: number[];
  private last: number;
  private readonly pauses = backoff(1, 60);
  private readonly stopping = new AbortController();
  /** Ends a pause after a failed attempt. */
  private retry = new AbortController();
  /** Ends the wait for something to send. A new output does not end a pause. */
  private added = new AbortController();
  private drained: (() => void)[] = [];

  constructor({ layout, portal, journal }: { layout: AgentLayout; portal: Portal; journal: Journal }) {
    this.folder = layout.uploads;
    this.portal = portal;
    this.journal = journal;
    this.numbers = openQueueFolder(this.folder);
    this.last = this.numbers.at(-1) ?? 0;
  }

  /** Queues an output. Never throws: the output stays on the machine in any case. */
  add(what: LogUpload): void {
    if ((statSync(what.file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
    try {
      while (this.numbers.length >= maxQueued) this.remove(this.numbers[0] ?? 0);
      this.last += 1;
      writeJson(this.pathOf(this.last), what);
      this.numbers.push(this.last);
      this.added.abort();
    } catch (error) {
      this.journal.warn(`${what.file} stays only on this machine: ${sentenceOf(error)}.`);
    }
  }

  /** Retries pending uploads immediately, because the portal has responded. */
  notePortalAnswered(): void {
    if (this.numbers.length === 0) return;
    this.pauses.reset();
    this.retry.abort();
  }

  /** Resolves when the portal has everything, or after the timeout. */
  async drain(seconds: number): Promise<void> {
    if (this.numbers.length === 0) return;
    this.retry.abort();
    const empty = new Promise<void>((resolve) => this.drained.push(resolve));
    await Promise.race([empty, wait(seconds, [this.stopping.signal])]);
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Uploads outputs until `stop` is called. Does not throw, whatever the portal does. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const [number] = this.numbers;
      if (number === undefined) {
        for (const resolve of this.drained.splice(0)) resolve();
        this.added = new AbortController();
        await wait(3600, [this.added.signal, this.stopping.signal]);
        continue;
      }
      this.retry = new AbortController();
      const pause = await this.send(number);
      if (pause > 0) await wait(pause, [this.retry.signal, this.stopping.signal]);
    }
  }

  /** Uploads one piece. Returns the seconds to wait before the next piece. */
  private async send(number: number): Promise<number> {
    try {
      const parsed = upload.safeParse(readJson(this.pathOf(number)));
      const piece = parsed.success ? pieceOf(parsed.data) : null;
      if (!parsed.success || piece === null) {
        this.remove(number);
        return 0;
      }
      const { file, ...what } = parsed.data;
      await this.portal.sendLog({ ...what, from: what.sent, ...piece }, this.stopping.signal);
      this.pauses.reset();
      const sent = what.sent + piece.bytes.length;
      if (sent >= piece.total) this.remove(number);
      else writeJson(this.pathOf(number), { ...what, file, sent });
      return 0;
    } catch (error) {
      if (this.stopping.signal.aborted) return 0;
      if (error instanceof PortalRefusal && !error.passing && ![401, 409].includes(error.status)) {
        this.journal.note(`The portal rejected an output, which stays only on this machine: ${error.message}`);
        this.remove(number);
        return 0;
      }
      const asked = error instanceof PortalRefusal ? error.retryAfter : null;
      return asked ?? this.pauses.next();
    }
  }

  private remove(number: number): void {
    const index = this.numbers.indexOf(number);
    if (index >= 0) this.numbers.splice(index, 1);
    discard(this.pathOf(number));
  }

  private pathOf(number: number): string {
    return queueFile(this.folder, number);
  }
}

/** Opens an output in `<log folder>/commands`. Returns null if a handler's service deleted or replaced it. */
function openOutput(file: string): number | null {
  try {
    return openFileBelow(dirname(dirname(file)), file);
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

/** Returns the next bytes for the portal; null if there are none. */
function pieceOf({ file, sent }: Queued): { total: number; bytes: Buffer } | null {
  const open = openOutput(file);
  if (open === null) return null;
  try {
    const total = fstatSync(open).size;
    if (total <= sent) return null;
    const bytes = Buffer.alloc(Math.min(pieceBytes, total - sent));
    const read = readSync(open, bytes, 0, bytes.length, sent);
    return { total, bytes: bytes.subarray(0, read) };
  } finally {
    closeSync(open);
  }
}
