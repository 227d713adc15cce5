import { rm } from 'node:fs/promises';
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { commandOutputs, extensionSequences, outputPieces } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/manifest.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockBytes, removeUnusedBytes } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { KeyedLock } from '#server/platform/keyed-lock.ts';
import { slot } from '#server/platform/process-memory.ts';
import { IncomingBytes } from './arrival.ts';
import { dropOldOutputs, lockOutputs } from './drop-old-outputs.ts';
import {
  type ReceiveOutputInput,
  type ReceiveTranscriptInput,
  receiveOutputInput,
  receiveTranscriptInput,
} from './input.ts';
import { mergePieces } from './merge-pieces.ts';
import { bytesOf, cut, type Piece, packPiece, pieceBytes } from './piece.ts';

/** A part of an output: the output that the bytes belong to, and their range. */
interface Part {
  vmId: string;
  range: z.output<typeof receiveOutputInput>['range'];
  subject: CommandSubject | { executionId: string };
}

interface CommandSubject {
  extension: string;
  sequenceNumber: number;
  command: CommandName;
  attempt: number;
}

/** A part of the output of a run of a unit's hook. */
export interface RunOutputPart {
  vmId: string;
  unit: string;
  number: number;
  hook: string;
  attempt: number;
  range: Part['range'];
}

/** Holds one lock per VM. */
const outputLock = slot(() => new KeyedLock());

/**
 * If a piece takes longer than this to arrive, the temporary files of the earlier pieces are refreshed. Otherwise, they
 * could be mistaken for leftovers of a crash and deleted.
 */
const slowMs = 60_000;

/**
 * Stores a part of an output. Parts can arrive in any order, overlap and repeat. Returns the number of stored bytes
 * from the start up to the first gap. Throws 422 `extension_unknown` | `sequence_unknown` | `output_scattered`, 413
 * `output_too_large`, 429 `uploads_waiting`, 400 `output_range_differs`.
 */
export async function receiveOutput(
  ctx: Context,
  input: ReceiveOutputInput,
  body: AsyncIterable<Uint8Array>,
): Promise<{ received: number }> {
  const { vmId, range, sequence, ...run } = parse(receiveOutputInput, input, 'bad_request');
  await requireKnown(ctx, { vmId, extension: run.extension, sequence });
  return receivePart(ctx, { vmId, range, subject: { ...run, sequenceNumber: sequence } }, body);
}

/**
 * Stores a part of an execution's transcript, like `receiveOutput`. The caller has checked that the VM has the
 * execution.
 */
export async function receiveTranscript(
  ctx: Context,
  input: ReceiveTranscriptInput,
  body: AsyncIterable<Uint8Array>,
): Promise<{ received: number }> {
  const { vmId, range, executionId } = parse(receiveTranscriptInput, input, 'bad_request');
  return receivePart(ctx, { vmId, range, subject: { executionId } }, body);
}

/**
 * Stores a part of the output of a unit's hook, like `receiveOutput`. It is stored with the unit's name in the place of
 * an extension's, which has no slash. The caller has checked that the VM has the run.
 */
export async function receiveRunOutput(
  ctx: Context,
  { vmId, unit, number, hook, attempt, range }: RunOutputPart,
  body: AsyncIterable<Uint8Array>,
): Promise<{ received: number }> {
  const subject = { extension: unit, sequenceNumber: number, command: hook as CommandName, attempt };
  return receivePart(ctx, { vmId, range, subject }, body);
}

/**
 * Appends to a transcript that the portal writes for an execution. `write` gets the transcript's size and returns the
 * bytes to append, or null for none; it runs in the transaction that stores them. Throws 413 `output_too_large`.
 */
export async function appendTranscript(
  ctx: Context,
  { vmId, executionId }: { vmId: string; executionId: string },
  write: (tx: Transaction, size: number) => Promise<Buffer | null>,
): Promise<void> {
  const created: Piece[] = [];
  const make = async (raw: Buffer, start: number): Promise<Piece> => {
    const piece = await packPiece(ctx.blobs, raw, start);
    created.push(piece);
    return piece;
  };
  const append = async (tx: Transaction): Promise<string[]> => {
    await lockOutputs(tx, vmId);
    const size = await transcriptBytes(tx, vmId, executionId);
    const raw = await write(tx, size);
    if (raw === null) return [];
    const limit = ctx.config.limits.logs.outputBytes;
    const until = size + raw.length;
    if (until > limit) throw new DomainError('too_large', 'output_too_large', { params: { limit } });
    const part = { vmId, range: { start: size, until, total: null }, subject: { executionId } };
    return (await store(tx, ctx, part, null, [await make(raw, size)], make)).freed;
  };
  try {
    const freed = await ctx.memory.of(outputLock).run(vmId, () => ctx.db.transaction(append));
    for (const sha256 of freed) await removeUnusedBytes(ctx, sha256);
  } finally {
    for (const { path } of created) if (path !== null) await rm(path, { force: true });
  }
}

/** Returns the size of a transcript that the portal writes. Such transcripts have no gaps. */
async function transcriptBytes(tx: Transaction, vmId: string, executionId: string): Promise<number> {
  const [output] = await tx
    .select({ storedBytes: commandOutputs.storedBytes })
    .from(commandOutputs)
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.executionId, executionId)));
  return output?.storedBytes ?? 0;
}

async function receivePart(ctx: Context, part: Part, body: AsyncIterable<Uint8Array>): Promise<{ received: number }> {
  const created: Piece[] = [];
  let lastCreated = Date.now();
  const make = async (raw: Buffer, start: number): Promise<Piece> => {
    const piece = await packPiece(ctx.blobs, raw, start);
    if (Date.now() - lastCreated > slowMs) await ctx.blobs.keepTemporary(created.flatMap(({ path }) => path ?? []));
    lastCreated = Date.now();
    created.push(piece);
    return piece;
  };
  const arrival = new IncomingBytes(ctx, part.vmId);
  try {
    const total = await receive(ctx, part, arrival.count(body), make);
    const fresh = [...created];
    // Takes the lock before a database connection, so that waiting calls of one VM do not exhaust the pool.
    const { received, freed } = await ctx.memory
      .of(outputLock)
      .run(part.vmId, () => ctx.db.transaction((tx) => store(tx, ctx, part, total, fresh, make)));
    for (const sha256 of freed) await removeUnusedBytes(ctx, sha256);
    return { received };
  } finally {
    arrival.end();
    for (const { path } of created) if (path !== null) await rm(path, { force: true });
  }
}

/** Also accepts an uninstalled extension, because the output of its last command can arrive after the removal. */
async function requireKnown(
  ctx: Context,
  { vmId, extension, sequence }: { vmId: string; extension: string; sequence: number },
): Promise<void> {
  const [known] = await ctx.db
    .select({ highest: extensionSequences.highest })
    .from(extensionSequences)
    .where(and(eq(extensionSequences.vmId, vmId), eq(extensionSequences.name, extension)));
  if (known === undefined) throw new DomainError('unprocessable', 'extension_unknown');
  if (sequence > known.highest) {
    throw new DomainError('unprocessable', 'sequence_unknown', { params: { extension, goal: known.highest } });
  }
}

/** Splits the body into pieces in temporary files. Returns the total length; null if it is unknown. */
async function receive(
  ctx: Context,
  { range }: Part,
  body: AsyncIterable<Uint8Array>,
  make: (raw: Buffer, start: number) => Promise<Piece>,
): Promise<number | null> {
  const limit = ctx.config.limits.logs.outputBytes;
  const tooLarge = () => new DomainError('too_large', 'output_too_large', { params: { limit } });
  const differs = () => new DomainError('bad_request', 'output_range_differs');
  if (range !== null && range.until > limit) throw tooLarge();
  let at = range?.start ?? 0;
  for await (const raw of cut(body)) {
    if (at + raw.length > limit) throw tooLarge();
    if (range !== null && at + raw.length > range.until) throw differs();
    await make(raw, at);
    at += raw.length;
  }
  if (range === null) return at;
  if (at !== range.until) throw differs();
  return range.total;
}

async function store(
  tx: Transaction,
  ctx: Context,
  part: Part,
  total: number | null,
  fresh: readonly Piece[],
  make: (raw: Buffer, start: number) => Promise<Piece>,
): Promise<{ received: number; freed: string[] }> {
  const { vmId } = part;
  await lockOutputs(tx, vmId);
  const output = await lockOutput(tx, ctx, part, total);
  const ofOutput = and(eq(outputPieces.vmId, vmId), eq(outputPieces.outputId, output.id));
  const rows = await tx.select().from(outputPieces).where(ofOutput).orderBy(outputPieces.start);
  const stored = rows.map((row): Piece => ({ ...row, path: null }));
  const kept = await mergePieces(stored, fresh, total, { read: (piece) => bytesOf(ctx.blobs, piece), make });
  // An output without gaps never has this many pieces.
  if (kept.length > 1_000 + 4 * Math.ceil(ctx.config.limits.logs.outputBytes / pieceBytes)) {
    throw new DomainError('unprocessable', 'output_scattered');
  }

  const staying = new Set(kept);
  const merged = stored.filter((piece) => !staying.has(piece));
  if (merged.length > 0) {
    const starts = merged.map(({ start }) => start);
    await tx.delete(outputPieces).where(and(ofOutput, inArray(outputPieces.start, starts)));
  }
  // Sorted, so that transactions lock the bytes in the same order and cannot deadlock.
  const added = kept.filter(({ path }) => path !== null).toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  for (const { path, ...piece } of added) {
    await lockBytes(tx, piece.sha256);
    await ctx.blobs.putFile(path ?? '', piece.sha256);
    await tx.insert(outputPieces).values({ vmId, outputId: output.id, ...piece });
  }
  const storedBytes = kept.reduce((sum, { start, until }) => sum + until - start, 0);
  await tx
    .update(commandOutputs)
    .set({ storedBytes, updatedAt: ctx.now })
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.id, output.id)));
  const freed = [...merged.map(({ sha256 }) => sha256), ...(await dropOldOutputs(tx, ctx, vmId, output.id))];
  await recordChange(tx, 'output', vmId);
  return { received: withoutGap(kept), freed };
}

const runColumns = [
  commandOutputs.vmId,
  commandOutputs.extension,
  commandOutputs.sequenceNumber,
  commandOutputs.command,
  commandOutputs.attempt,
];

/** Creates or finds the row of this run, and locks it, so that parts of one output are merged one at a time. */
async function lockOutput(tx: Transaction, ctx: Context, part: Part, total: number | null): Promise<{ id: string }> {
  const { vmId, subject } = part;
  const { totalBytes } = commandOutputs;
  const isOfCommand = 'command' in subject;
  const [output] = await tx
    .insert(commandOutputs)
    .values({
      vmId,
      id: uuid(),
      ...subject,
      totalBytes: total,
      storedBytes: 0,
      startedAt: ctx.now,
      updatedAt: ctx.now,
    })
    .onConflictDoUpdate({
      target: isOfCommand ? runColumns : [commandOutputs.vmId, commandOutputs.executionId],
      ...(!isOfCommand && { targetWhere: isNotNull(commandOutputs.executionId) }),
      set: { totalBytes: total === null ? sql`${totalBytes}` : total },
    })
    .returning({ id: commandOutputs.id });
  if (output === undefined) throw new Error('an output was neither inserted nor updated');
  return output;
}

function withoutGap(pieces: readonly Piece[]): number {
  let end = 0;
  for (const { start, until } of pieces) {
    if (start !== end) break;
    end = until;
  }
  return end;
}
