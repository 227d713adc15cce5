import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { executionFiles, executions } from '#db/schema/index.ts';
import {
  type ExecutionPlan,
  errorCodes,
  executionLimits,
  openStates,
  parseExactJson,
} from '#protocol/executions/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { findRunbookFiles } from '#server/domain/runbook-files/index.ts';
import type { ExecutionRow } from './rows.ts';

/** A file of an execution, with the digest and size of its contents when the execution was queued. */
export interface PinnedFile {
  /** The id of the file in the plan. */
  file: string;
  sha256: string;
  size: number;
}

/** Returns the plan's files of BodyType `ID`: the id in the plan, and the id of the stored file. */
const storedFilesOf = ({ files }: ExecutionPlan): { file: string; id: string }[] =>
  [...files].flatMap(([file, { bodyType, body }]) => (bodyType === 'ID' ? [{ file, id: body }] : []));

/** Returns a fault for each file of the plan that the portal does not have. */
export async function missingFiles(db: Database | Transaction, plan: ExecutionPlan): Promise<Fault[]> {
  const wanted = storedFilesOf(plan);
  const ids = wanted.map(({ id }) => id);
  return faultsOf(wanted, await findRunbookFiles(db, ids));
}

const faultsOf = (wanted: readonly { file: string; id: string }[], found: ReadonlyMap<string, unknown>): Fault[] =>
  wanted
    .filter(({ id }) => !found.has(id))
    .map(({ file }) => ({ path: jsonPointer(['Files', file, 'Body']), code: 'runbook_file_unknown' }));

/**
 * Records the current contents of the plan's files for a new execution. The machine gets these bytes (MU-56). Throws
 * 422 `plan_invalid` if the portal does not have a file, and `files_too_large_for_amqp` if the files do not fit into a
 * message to the broker.
 */
export async function pinFiles(
  tx: Transaction,
  { vmId, id: executionId, channel }: ExecutionRow,
  { plan, text }: { plan: ExecutionPlan; text: string },
): Promise<void> {
  const files = await findPlanFiles(tx, plan, { keep: true });
  const limit = executionLimits.planBytes;
  const bytes = amqpFileBytes(files);
  if (channel === 'amqp' && bytes > 0 && bytes + Buffer.byteLength(text) > limit) {
    throw new DomainError('unprocessable', 'files_too_large_for_amqp', { params: { limit } });
  }
  await pin(tx, [{ vmId, executionId }], files);
}

/** A stored file of a plan, with its current contents. */
export interface StoredPlanFile extends PinnedFile {
  runbookFile: string;
}

/**
 * Returns the stored files of a plan. With `keep`, no one can replace or delete them until the commit. Throws 422
 * `plan_invalid` if the portal does not have one of them.
 */
export async function findPlanFiles(
  db: Database | Transaction,
  plan: ExecutionPlan,
  { keep = false } = {},
): Promise<StoredPlanFile[]> {
  const wanted = storedFilesOf(plan);
  const ids = wanted.map(({ id }) => id);
  const found = await findRunbookFiles(db, ids, { keep });
  const faults = faultsOf(wanted, found);
  if (faults.length > 0) {
    const params = { code: errorCodes.fileUnavailable };
    throw new DomainError('unprocessable', 'plan_invalid', { params, faults });
  }
  return wanted.flatMap(({ file, id: runbookFile }) => {
    const contents = found.get(runbookFile);
    return contents === undefined ? [] : [{ file, runbookFile, sha256: contents.sha256, size: contents.size }];
  });
}

/** Returns the number of bytes that the files take in a message to the broker, in base64. */
export const amqpFileBytes = (files: readonly StoredPlanFile[]): number =>
  files.reduce((sum, { size }) => sum + 4 * Math.ceil(size / 3), 0);

/** Records the files of new executions. */
export async function pin(
  tx: Transaction,
  of: readonly Pick<typeof executionFiles.$inferInsert, 'vmId' | 'executionId'>[],
  files: readonly StoredPlanFile[],
): Promise<void> {
  const rows = of.flatMap((execution) => files.map((file) => ({ ...execution, ...file })));
  if (rows.length > 0) await tx.insert(executionFiles).values(rows);
}

/**
 * Returns the text of a plan for the broker, which contains the files of BodyType `ID` in base64, because an agent that
 * takes plans over AMQP cannot fetch them. A file whose contents are lost is left unchanged, and the execution fails
 * with code 8.
 */
export async function withInlineFiles(
  tx: Transaction,
  { blobs }: Pick<Context, 'blobs'>,
  { vmId, id }: ExecutionRow,
  text: string,
): Promise<string> {
  const pinned = await tx
    .select({ file: executionFiles.file, sha256: executionFiles.sha256 })
    .from(executionFiles)
    .where(and(eq(executionFiles.vmId, vmId), eq(executionFiles.executionId, id)));
  if (pinned.length === 0) return text;
  const plan = parseExactJson(text) as { Files: Record<string, object> };
  const files = new Map(Object.entries(plan.Files));
  for (const { file, sha256 } of pinned) {
    const blob = await blobs.open(sha256);
    if (blob === null) continue;
    const bytes = Buffer.concat(await blob.stream.toArray());
    files.set(file, { ...files.get(file), BodyType: 'Base64', Body: bytes.toString('base64') });
  }
  return JSON.stringify({ ...plan, Files: Object.fromEntries(files) });
}

/** Returns the files of an execution by their ids in the plan, each with the URL from which the machine fetches it. */
export async function filesOf(tx: Transaction, row: ExecutionRow) {
  const files = await tx
    .select({ file: executionFiles.file, sha256: executionFiles.sha256, size: executionFiles.size })
    .from(executionFiles)
    .where(and(eq(executionFiles.vmId, row.vmId), eq(executionFiles.executionId, row.id)))
    .orderBy(asc(executionFiles.file));
  return shownFiles(row, files);
}

/** Returns the files of an execution as its envelope shows them. */
export const shownFiles = ({ id }: Pick<ExecutionRow, 'id'>, files: readonly PinnedFile[]) =>
  Object.fromEntries(
    files.map(({ file, ...contents }) => [
      file,
      { ...contents, url: `/agent/v1/executions/${id}/files/${encodeURIComponent(file)}` },
    ]),
  );

/**
 * Returns the digest and size of a file of an execution that was delivered and has not ended. Throws 404
 * `execution_file_unknown`.
 */
export async function findFileOfMachine(
  ctx: Pick<Context, 'db'>,
  vmId: string,
  executionId: string,
  file: string,
): Promise<PinnedFile> {
  const [found] = await ctx.db
    .select({ file: executionFiles.file, sha256: executionFiles.sha256, size: executionFiles.size })
    .from(executionFiles)
    .innerJoin(executions, and(eq(executions.vmId, executionFiles.vmId), eq(executions.id, executionFiles.executionId)))
    .where(
      and(
        eq(executionFiles.vmId, vmId),
        eq(executionFiles.executionId, executionId),
        eq(executionFiles.file, file),
        inArray(executions.state, [...openStates]),
      ),
    );
  if (found === undefined) throw new DomainError('not_found', 'execution_file_unknown');
  return found;
}
