import { closeSync, createReadStream, createWriteStream, fstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { openFileBelow } from '../folder/shared-files.ts';
import { discard } from '../folder/write-file.ts';
import type { Journal } from '../journal.ts';
import { type LogRequest, type Portal, PortalRefusal } from '../portal/portal.ts';
import { escapeLine } from '../terminal.ts';
import { type Log, listLogs } from './list-logs.ts';

/** Size limit of one archive's contents; by default, the portal accepts 256 MiB. */
const maxBytes = 240 * 1024 * 1024;

/** Sends the log folders that operators request, even those of uninstalled handlers (AZ-G11). */
export class LogArchives {
  private readonly layout: AgentLayout;
  private readonly portal: Portal;
  private readonly journal: Journal;
  private readonly stopping = new AbortController();
  private sending: Promise<void> | null = null;
  /** Requests for which the portal permanently rejects the archive; the logs are not packed again. */
  private readonly refused = new Set<string>();

  constructor({ layout, portal, journal }: { layout: AgentLayout; portal: Portal; journal: Journal }) {
    this.layout = layout;
    this.portal = portal;
    this.journal = journal;
  }

  /**
   * Sends the archives that operators are waiting for. If that fails, the portal's next response asks for them again.
   */
  wanted(): void {
    if (this.stopping.signal.aborted) return;
    this.sending ??= this.sendAll()
      .catch((error: unknown) => {
        if (!this.stopping.signal.aborted)
          this.journal.warn(`Requested logs could not be sent yet: ${sentenceOf(error)}`);
      })
      .finally(() => {
        this.sending = null;
      });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.sending;
  }

  private async sendAll(): Promise<void> {
    const requests = await this.portal.logRequests(this.stopping.signal);
    for (const request of requests.filter(({ id }) => !this.refused.has(id))) await this.send(request);
  }

  private async send({ id, handler }: LogRequest): Promise<void> {
    const zip = join(this.layout.incoming, `logs-${id}.away`);
    try {
      mkdirSync(this.layout.incoming, { recursive: true, mode: 0o700 });
      await archiveLogs(this.layout.logs, handler, zip);
      await this.portal.sendArchive(id, zip, this.stopping.signal);
      this.journal.info(`The logs of ${handler} were sent, as an operator requested.`);
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.passing) throw error;
      this.refused.add(id);
      if (error.status !== 404) this.journal.warn(`The portal rejected the logs of ${handler}: ${error.message}`);
    } finally {
      discard(zip);
    }
  }
}

/**
 * Packs the log folders of all versions of a handler as a zip, newest files first. Writes an empty file if there are
 * no logs.
 */
export async function archiveLogs(logs: string, handler: string, zip: string): Promise<void> {
  const { files, leftOut } = listLogs(logs, handler);
  if (files.length + leftOut.length === 0) {
    writeFileSync(zip, '', { mode: 0o600 });
    return;
  }
  const archive = new ZipFile();
  let bytes = 0;
  for (const file of files.sort((a, b) => b.time - a.time)) {
    const { size, time } = file;
    // Some programs read a backslash as a path separator.
    const name = relative(logs, file.path).replaceAll('\\', '_');
    if (bytes + size > maxBytes) leftOut.push(`${name} (${size} bytes)`);
    else {
      bytes += size;
      const options = { mtime: new Date(time), mode: 0o100600 };
      if (size === 0) archive.addBuffer(Buffer.alloc(0), name, options);
      else archive.addReadStreamLazy(name, options, (give) => give(null, Readable.from(contentOf(file))));
    }
  }
  if (leftOut.length > 0) {
    const list = leftOut.map((line) => `${escapeLine(line)}\n`).join('');
    archive.addBuffer(Buffer.from(`These were left out and stay on the machine:\n${list}`), 'left-out.txt');
  }
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(zip, { mode: 0o600 }));
}

/** Yields a log up to its listed size, because it may grow, be rotated or be replaced while it is packed. */
async function* contentOf(log: Log): AsyncGenerator<Buffer> {
  try {
    const fd = openFileBelow(log.folder, log.path);
    if (fd === null) throw new Error('ENOENT: it was removed');
    const { dev, ino } = fstatSync(fd);
    if (dev !== log.dev || ino !== log.ino) {
      closeSync(fd);
      throw new Error('another file took its place');
    }
    yield* createReadStream('', { fd, start: 0, end: log.size - 1 }) as AsyncIterable<Buffer>;
  } catch (error) {
    yield Buffer.from(`\n[The rest of this file could not be read: ${sentenceOf(error)}]\n`);
  }
}
