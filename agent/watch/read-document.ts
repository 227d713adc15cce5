import { constants, open } from 'node:fs/promises';
import { type StatusDocument, statusFile } from '#protocol/index.ts';
import { wait } from '../portal/wait.ts';
import { type Moment, momentNow } from './moment.ts';

/** A handler's file as it was read. */
export interface ReadFile {
  path: string;
  text: string;
  /** The parsed JSON, as the handler wrote it. */
  file: unknown;
  /** Since the file's own time, when it was read. Never negative. */
  ageSeconds: number;
  readAt: Moment;
  /** The file's own time, milliseconds. */
  mtimeMs: number;
}

/** Files beyond this would not fit into a report. */
const maxBytes = 768 * 1024;
const retries = [0.05, 0.1, 0.2, 0.4, 0.8];

/**
 * Reads a JSON file that its writer may be writing just now: half a file is read again with backoff and never given
 * back (AZ-G9). Null where there is no file; throws where it does not become readable.
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
  // Without O_NONBLOCK a pipe in its place would keep a thread until somebody writes, and its handler for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : error,
  );
  if (handle === null) return null;
  if (handle instanceof Error) return handle.message;
  try {
    const before = await handle.stat();
    if (!before.isFile()) return 'it is no plain file';
    if (before.size > maxBytes) return `it has ${before.size} bytes, more than a report may carry`;
    const text = (await handle.readFile('utf8')).replace(/^\uFEFF/, '');
    const readAt = momentNow();
    const after = await handle.stat();
    if (before.mtimeMs !== after.mtimeMs || before.size !== after.size) return 'it is being written';
    const { mtimeMs } = after;
    const ageSeconds = Math.max(0, (readAt.clock - mtimeMs) / 1000);
    return { path, text, file: JSON.parse(text), ageSeconds, readAt, mtimeMs };
  } catch (error) {
    return error instanceof SyntaxError ? 'it is no JSON, or only half of it' : String(error);
  } finally {
    await handle.close();
  }
}

export function statusOf(file: unknown): StatusDocument | null {
  const parsed = statusFile.safeParse(file);
  return parsed.success ? parsed.data : null;
}
