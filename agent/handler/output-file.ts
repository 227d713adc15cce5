import { closeSync, fstatSync, fsyncSync, mkdirSync, readSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { documentLimits } from '#protocol/index.ts';
import { NotPlain, SharedFolder } from '../folder/shared-folder.ts';
import { Mask } from './mask.ts';

/** The portal's default limit on the output of one command. */
const maxFileBytes = 64 * 1024 * 1024;
/** How many bytes are kept from the end of an output that exceeds the limit. */
const endBytes = 1024 * 1024;

/**
 * The output of a command on disk: limited in size, with secrets masked, and with a note where something is missing.
 */
export class OutputFile {
  readonly path: string;
  private readonly mask: Mask;
  private readonly file: number;
  private readonly room: number;
  private size: number;
  /** Number of bytes beyond the limit; the last of them are in `end`. */
  private beyond = 0;
  private end: Buffer[] = [];
  private endSize = 0;
  /** Number of bytes that the disk rejected. */
  private lost = 0;
  /** Number of bytes still to drop after a gap, because they may be the rest of a secret. */
  private skip = 0;

  /** `resumed`: an earlier run of the agent wrote the first part, and what was in transit is lost. */
  constructor(path: string, { secrets, resumed = false }: { secrets: readonly string[]; resumed?: boolean }) {
    this.path = path;
    this.mask = new Mask(secrets);
    this.room = maxFileBytes - endBytes - 1024;
    this.file = openOutput(path, resumed);
    this.size = fstatSync(this.file).size;
    if (resumed) {
      this.keep(Buffer.from('\n[The agent was started again here; some of the output is missing.]\n'));
      this.skip = this.mask.reach;
    }
  }

  write(chunk: Buffer): void {
    const skipped = Math.min(this.skip, chunk.length);
    this.skip -= skipped;
    this.keep(this.mask.push(chunk.subarray(skipped)));
  }

  /**
   * Writes the remaining bytes and the agent's closing note. Returns the tail for the report, and the size of the file.
   */
  finish(note: string): { tail: string; bytes: number } {
    this.keep(this.mask.end());
    const kept = Buffer.concat(this.end);
    const missing = this.beyond - kept.length;
    if (missing > 0) this.append(Buffer.from(`\n[Cut: ${missing} bytes are missing here.]\n`));
    this.append(kept);
    const separator = this.size === 0 ? '' : '\n';
    if (note !== '') this.append(Buffer.from(`${separator}${note}`));
    const notKept = `[Cut: the disk could not store ${this.lost} bytes of this output.]\n`;
    const tail = this.lost === 0 ? this.tail() : notKept + this.tail(Buffer.byteLength(notKept));
    fsyncSync(this.file);
    closeSync(this.file);
    return { tail, bytes: this.size };
  }

  /** Writes bytes. If a full disk or a quota rejects some, counts them instead of throwing. */
  private append(bytes: Buffer): void {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.file, bytes, at);
    } catch {
      this.lost += bytes.length - at;
    }
    this.size += at;
  }

  private keep(bytes: Buffer): void {
    const fitting = Math.max(0, Math.min(bytes.length, this.room - this.size));
    if (fitting > 0) this.append(bytes.subarray(0, fitting));
    if (fitting === bytes.length) return;
    const rest = Buffer.from(bytes.subarray(fitting));
    this.beyond += rest.length;
    this.end.push(rest);
    this.endSize += rest.length;
    while (this.end[0] !== undefined && this.endSize - this.end[0].length >= endBytes) {
      this.endSize -= this.end.shift()?.length ?? 0;
    }
  }

  /** Returns the end of the file, within the limit of a report, as text that JSON and databases can store. */
  private tail(taken = 0): string {
    const { size } = fstatSync(this.file);
    const header = `[Cut: only the end of ${size} bytes. The whole output is in ${this.path} on the machine.]\n`;
    const room = documentLimits.outputBytes - Buffer.byteLength(header) - taken;
    const buffer = Buffer.alloc(Math.min(size, room));
    const start = size - buffer.length;
    readSync(this.file, buffer, 0, buffer.length, start);
    const text = clean(buffer.toString('utf8'));
    const kept = lastBytes(text, room);
    return start === 0 && kept === text ? kept : header + kept;
  }
}

/**
 * Opens an output in `<log folder>/commands`. Replaces links and other unexpected entries at both paths: a handler's
 * service may own the log folder, but must not redirect writes to other files or prevent the handler's removal.
 */
function openOutput(path: string, resumed: boolean): number {
  const commands = dirname(path);
  const logFolder = dirname(commands);
  mkdirSync(logFolder, { recursive: true, mode: 0o700 });
  const shared = SharedFolder.open(logFolder);
  const folder = shared?.replaceByFolder(basename(commands), 0o700);
  shared?.close();
  if (folder === undefined) throw new Error(`${logFolder} was removed while the agent used it`);
  try {
    return (resumed ? openAgain(folder, basename(path)) : null) ?? folder.createFile(basename(path), 0o600);
  } finally {
    folder.close();
  }
}

function openAgain(folder: SharedFolder, name: string): number | null {
  try {
    return folder.openToAppend(name);
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

/** Replaces control characters that terminal text does not need. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => ('\t\n\r\u001b'.includes(character) ? character : '\uFFFD'));
}

function lastBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  // Skips the rest of a character that was cut off.
  while (((encoded[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return encoded.subarray(start).toString('utf8');
}
