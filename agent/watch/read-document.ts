import { closeSync, fstatSync, read } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type StatusDocument, statusFile } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import { openFileBelow } from '../folder/shared-files.ts';
import { wait } from '../portal/wait.ts';
import { type BootMoment, momentNow } from './moment.ts';

/** A handler's file as it was read. */
export interface ReadFile {
  path: string;
  text: string;
  /** The parsed JSON, as the handler wrote it. */
  file: unknown;
  /** Age of the file when it was read. Never negative. */
  ageSeconds: number;
  readAt: BootMoment;
  /** Modification time in milliseconds. */
  mtimeMs: number;
}

/** Larger files would not fit into a report. */
const maxBytes = 768 * 1024;
const readSome = promisify(read);
const retries = [0.05, 0.1, 0.2, 0.4, 0.8];

/**
 * Reads a JSON file that its handler may be writing: a partial file is read again with backoff and never returned
 * (AZ-G9). Returns null if there is no file. Throws if the file stays unreadable.
 */
export async function readDocument(path: string, signal?: AbortSignal): Promise<ReadFile | null> {
  for (const pause of [...retries, null]) {
    const problem = await attempt(path);
    if (problem === null || typeof problem === 'object') return problem;
    if (pause === null || signal?.aborted) throw new Error(problem);
    await wait(pause, [signal]);
  }
  return null;
}

async function attempt(path: string): Promise<ReadFile | null | string> {
  let file: number | null;
  try {
    // Statuses and heartbeats are in subfolders of the handler's root.
    file = openFileBelow(dirname(dirname(path)), path);
  } catch (error) {
    return sentenceOf(error);
  }
  if (file === null) return null;
  try {
    const before = fstatSync(file);
    if (before.size > maxBytes) return `it has ${before.size} bytes, more than fits into a report`;
    const bytes = await readUpTo(file, before.size + 1);
    const readAt = momentNow();
    const after = fstatSync(file);
    if (before.mtimeMs !== after.mtimeMs || bytes.length !== after.size) return 'it is being written';
    const { mtimeMs } = after;
    const ageSeconds = Math.max(0, (readAt.clock - mtimeMs) / 1000);
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    return { path, text, file: JSON.parse(text), ageSeconds, readAt, mtimeMs };
  } catch (error) {
    return error instanceof SyntaxError ? 'it is not valid JSON, or is incomplete' : String(error);
  } finally {
    closeSync(file);
  }
}

/** Reads at most `most` bytes, because the file may grow. */
async function readUpTo(file: number, most: number): Promise<Buffer> {
  const bytes = Buffer.alloc(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await readSome(file, bytes, length, most - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

export function statusOf(file: unknown): StatusDocument | null {
  const parsed = statusFile.safeParse(file);
  return parsed.success ? parsed.data : null;
}
