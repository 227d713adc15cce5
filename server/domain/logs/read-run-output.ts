import { and, eq } from 'drizzle-orm';
import { commandOutputs } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { loadOutput, readAgain } from './output.ts';
import { rowsForDisplay } from './read-output.ts';
import { type FoundRows, searchStretches, type TranscriptSearch } from './read-transcript.ts';
import { missingBytes, type Row, rowsIn, type Stretch } from './rows.ts';

/** A run of a unit's hook. The caller has checked that the reader may see its output. */
export interface OutputOfRun {
  vmId: string;
  unit: string;
  number: number;
}

/** Rows of the output of a run, its number of rows, and the number of its bytes that have not arrived. */
interface RunOutputPage {
  row: number;
  rows: Row[];
  total: number;
  missing: number;
}

/** Returns rows of the output of a run of a unit's hook; none if nothing has arrived. */
export function readOutputOfRun(
  ctx: Context,
  run: OutputOfRun,
  { row, count }: { row: number; count: number },
): Promise<RunOutputPage> {
  return readAgain(async () => {
    const stretches = await stretchesOfRun(ctx, run);
    const rows = await rowsForDisplay(ctx, stretches, { row, count });
    return { row, rows, total: rowsIn(stretches), missing: missingBytes(stretches) };
  });
}

/** Searches the output of a run of a unit's hook, as `searchTranscript` searches a transcript. */
export function searchOutputOfRun(ctx: Context, run: OutputOfRun, search: TranscriptSearch): Promise<FoundRows> {
  return readAgain(async () => searchStretches(ctx, await stretchesOfRun(ctx, run), search));
}

/** Loads the output of a run; nothing if nothing has arrived. */
export async function stretchesOfRun(ctx: Context, { vmId, unit, number }: OutputOfRun): Promise<Stretch[]> {
  const [found] = await ctx.db
    .select({ id: commandOutputs.id })
    .from(commandOutputs)
    .where(
      and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.extension, unit), eq(commandOutputs.sequenceNumber, number)),
    );
  return found === undefined ? [] : (await loadOutput(ctx, vmId, found.id)).stretches;
}
