import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import {
  type ExecutionDetails,
  getExecution,
  getPlan,
  getResult,
  type LogRow,
  streamLog,
} from '#server/domain/executions/index.ts';
import { csvLine } from './csv.ts';
import { logLines } from './log-lines.ts';

/**
 * Returns the plan, result, calls and log of an execution as a zip archive. The log is read while the archive is sent.
 * For operators. Throws 404 `execution_unknown`.
 */
export async function archiveOf(
  ctx: Context,
  of: { vmId: string; executionId: string },
): Promise<{ execution: ExecutionDetails; bytes: AsyncIterable<Uint8Array> }> {
  allow(ctx.actor, 'operator');
  const [execution, plan, result] = [await getExecution(ctx, of), await getPlan(ctx, of), await getResult(ctx, of)];
  const zip = new ZipFile();
  const options = { mtime: new Date(execution.concludedAt ?? execution.queuedAt), mode: 0o100600 };
  const bytes = Readable.from(zip.outputStream);
  zip.addBuffer(Buffer.from(plan), 'plan.json', options);
  if (result !== null) zip.addBuffer(Buffer.from(result), 'result.json', options);
  zip.addBuffer(Buffer.from(callsOf(execution)), 'calls.csv', options);
  for (const [name, format] of [
    ['transcript.jsonl', 'jsonl'],
    ['log.txt', 'text'],
  ] as const) {
    zip.addReadStreamLazy(name, options, (give) => {
      const lines = Readable.from(bytesOf(streamLog(ctx, { ...of, row: 0 }), format));
      // The connection is closed, so the client detects that the archive is truncated.
      lines.on('error', (error) => bytes.destroy(error));
      give(null, lines);
    });
  }
  zip.end();
  return { execution, bytes };
}

async function* bytesOf(rows: AsyncGenerator<LogRow[]>, format: 'text' | 'jsonl'): AsyncGenerator<Uint8Array> {
  for await (const some of rows) yield Buffer.from(logLines(some, format));
}

/** The columns of `calls.csv`, named as in the API. */
const columns = [
  'n',
  'run',
  'script',
  'function',
  'state',
  'atMs',
  'tookMs',
  'exitCode',
  'fromJournal',
  'row',
] as const;

function callsOf({ calls }: ExecutionDetails): string {
  const lines = calls.map((call) =>
    csvLine(columns.map((column) => (typeof call[column] === 'boolean' ? String(call[column]) : call[column]))),
  );
  return [csvLine([...columns]), ...lines].join('');
}
